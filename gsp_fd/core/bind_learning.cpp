// The encoder, the network and search episodes in Python.
#include "bindings.h"

#include <algorithm>
#include <future>

#include "encoder.h"
#include "episode.h"
#include "network_weights.h"
#include "q_heuristic.h"

namespace gsp {
namespace {

/// A NumPy view of one array of a batch, which keeps the batch alive.
template<class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> view(nb::handle owner, std::vector<T> &values) {
    return {values.data(), {values.size()}, owner};
}

Rows rows_from(const IntArray &begin, const IntArray &values) {
    Rows rows;
    rows.begin.assign(begin.data(), begin.data() + begin.size());
    rows.values.assign(values.data(), values.data() + values.size());
    return rows;
}

using FloatArray = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// States of episodes, each with the encoder of its task, as one batch.
EncodedBatch encode_states(const std::vector<const Encoder *> &encoders, const std::vector<Episode *> &episodes,
                           IntArray states) {
    if (encoders.size() != episodes.size() || episodes.size() != states.size() || episodes.empty())
        throw nb::value_error("one encoder, one episode and one state per row are needed");
    for (size_t i = 0; i < episodes.size(); ++i) check_state(episodes[i]->space(), states.data()[i]);
    nb::gil_scoped_release release;
    EncodedBatch batch = encoders[0]->empty_batch();
    for (size_t i = 0; i < episodes.size(); ++i) {
        int32_t state = states.data()[i];
        encoders[i]->append_state(episodes[i]->space(), state, episodes[i]->actions(state), episodes[i]->relaxed_plan(state), batch);
    }
    return batch;
}

/// relations: (name, arity, hidden units)
NetworkWeights weights_from_python(int64_t d, int64_t layers, const std::string &pool,
                                   const std::vector<std::tuple<std::string, int64_t, int64_t>> &relations,
                                   const std::map<std::string, FloatArray> &weights) {
    NetworkShape shape{d, layers, pool, {}};
    for (const auto &[name, arity, hidden] : relations) shape.relations.push_back({name, arity, hidden});
    NamedArrays arrays;
    for (const auto &[name, array] : weights) arrays.emplace(name, std::span(array.data(), array.size()));
    return weights_from(shape, arrays);
}

/// A Q-function in Python, such as a session of ONNX Runtime. The batch is its own only during the call.
class PythonQFunction {
public:
    /// cancel: makes a call that is under way in another thread end soon; None if nothing can.
    PythonQFunction(nb::callable function, nb::object cancel)
        : python_(new Python{std::move(function), std::move(cancel)}, [](Python *held) {
              nb::gil_scoped_acquire gil;
              delete held;
          }) {}

    /// The call has a thread of its own: no signal reaches native code, so this one goes on looking at limits and signals.
    std::vector<float> operator()(const EncodedBatch &batch, Watch *watch) const {
        if (!watch) return call(batch);
        auto result = std::async(std::launch::async, [&] { return call(batch); });
        while (result.wait_for(std::chrono::milliseconds(10)) != std::future_status::ready)
            if (watch->expired()) cancel();
        watch->throw_if_expired();
        return result.get();
    }

private:
    struct Python {
        nb::callable function;
        nb::object cancel;
    };

    std::vector<float> call(const EncodedBatch &batch) const {
        nb::gil_scoped_acquire gil;
        try {
            auto q = nb::cast<FloatArray>(python_->function(nb::cast(batch, nb::rv_policy::reference)));
            return {q.data(), q.data() + q.size()};
        } catch (nb::python_error &error) {
            if (error.matches(PyExc_MemoryError)) throw std::bad_alloc();
            throw;
        }
    }
    void cancel() const {
        nb::gil_scoped_acquire gil;
        if (!python_->cancel.is_none()) python_->cancel();
    }

    std::shared_ptr<Python> python_;
};

std::shared_ptr<Heuristic> native_q_heuristic(std::shared_ptr<const Encoder> encoder, std::shared_ptr<Network> network,
                                              std::shared_ptr<Heuristic> plans, double messages_per_call, std::string name,
                                              std::string model) {
    if (encoder->relations() != network->relations()) throw nb::value_error("the encoder has other relations than the network");
    return std::make_shared<QHeuristic>(
        std::move(encoder), std::move(plans),
        [network = std::move(network)](const EncodedBatch &batch, Watch *watch) { return network->q_values(batch, watch); },
        messages_per_call, std::move(name), std::move(model));
}

std::shared_ptr<Heuristic> python_q_heuristic(std::shared_ptr<const Encoder> encoder, nb::callable q_function,
                                              std::shared_ptr<Heuristic> plans, double messages_per_call, std::string name,
                                              std::string model, nb::object cancel) {
    PythonQFunction called(std::move(q_function), std::move(cancel));
    return std::make_shared<QHeuristic>(std::move(encoder), std::move(plans), std::move(called), messages_per_call,
                                        std::move(name), std::move(model));
}

template<class T, class Field>
auto column(const Episode &episode, Field &&field) {
    std::vector<T> out;
    for (const Transition &t : episode.transitions()) out.push_back(static_cast<T>(field(t)));
    return to_numpy(std::move(out));
}

}  // namespace

void bind_encoder(nb::module_ &m) {
    nb::class_<EncodedBatch>(m, "EncodedBatch", "Index tensors of a batch of states; the arrays are views.")
        .def_prop_ro("relations", [](nb::handle self) {
            auto &batch = nb::cast<EncodedBatch &>(self);
            nb::list out;
            for (size_t r = 0; r < batch.relations.size(); ++r) {
                auto columns = static_cast<size_t>(batch.arities[r]);
                auto &rows = batch.relations[r];
                out.append(nb::ndarray<nb::numpy, int64_t>(rows.data(), {rows.size() / columns, columns}, self));
            }
            return out;
        })
        .def_prop_ro("messages", &EncodedBatch::messages, "Arguments of all atoms.")
        .def_prop_ro("node_state", [](nb::handle self) { return view(self, nb::cast<EncodedBatch &>(self).node_state); })
        .def_prop_ro("action_node", [](nb::handle self) { return view(self, nb::cast<EncodedBatch &>(self).action_node); })
        .def_prop_ro("action_state", [](nb::handle self) { return view(self, nb::cast<EncodedBatch &>(self).action_state); })
        .def_prop_ro("state_sizes", [](nb::handle self) { return view(self, nb::cast<EncodedBatch &>(self).state_sizes); });
    nb::class_<Encoder>(m, "Encoder", "States with their actions as tensors of a relational network.")
        .def("__init__", [](Encoder *self, std::shared_ptr<const LiftedTask> task,
                            const std::vector<std::tuple<std::string, int32_t, int32_t>> &relations) {
            std::vector<RelationSpec> specs;
            for (const auto &[kind, symbol, arity] : relations) specs.push_back({relation_kind_from(kind), symbol, arity});
            new (self) Encoder(std::move(task), std::move(specs));
        }, "task"_a, "relations"_a, "relations: (kind, number in the task or -1, columns) in the model's order.")
        .def("encode", [](const Encoder &encoder, LiftedSpace &space, IntArray states, IntArray begin, IntArray operators,
                          std::shared_ptr<Heuristic> plans) {
            Rows rows = rows_from(begin, operators);
            if (rows.size() != states.size() || rows.begin.front() != 0 ||
                static_cast<size_t>(rows.begin.back()) != rows.values.size() ||
                !std::is_sorted(rows.begin.begin(), rows.begin.end()))
                throw nb::value_error("one row of operators per state is needed");
            for (size_t i = 0; i < states.size(); ++i) check_state(space, states.data()[i]);
            for (int32_t op : rows.values) check_operator(space, op);
            if (encoder.takes_plans() && !plans) throw nb::value_error("the encoder takes relaxed plans, and nothing knows them");
            if (plans) plans->bind(space);
            nb::gil_scoped_release release;
            return encoder.encode(space, {states.data(), states.size()}, rows, plans.get());
        }, "space"_a, "states"_a, "begin"_a, "operators"_a, "plans"_a.none() = nb::none(),
             "operators[begin[i]:begin[i + 1]] are the actions of states[i]; Q-values come in this order. plans: a heuristic with "
             "relaxed plans, if the encoder takes them.");
    nb::class_<Network>(m, "Network", "Q(s, a) of a relational network with max aggregation and a sum as its readout, on the CPU.")
        .def("__init__", [](Network *self, int64_t d, int64_t layers, const std::string &pool,
                            const std::vector<std::tuple<std::string, int64_t, int64_t>> &relations,
                            const std::map<std::string, FloatArray> &weights, size_t kept) {
            new (self) Network(weights_from_python(d, layers, pool, relations, weights), kept);
        }, nb::kw_only(), "d"_a, "layers"_a, "pool"_a, "relations"_a, "weights"_a, "kept"_a = Network::default_kept,
             "relations: (name, arity, hidden units); weights: the flat arrays of the ONNX file by name; "
             "kept: classes of nodes whose embeddings are kept from one call to the next, about.")
        .def("q_values", [](Network &network, const EncodedBatch &batch) {
            if (batch.arities.size() != network.relations()) throw nb::value_error("the batch has other relations");
            std::vector<float> q;
            {
                nb::gil_scoped_release release;
                q = network.q_values(batch);
            }
            return to_numpy(std::move(q));
        }, "batch"_a, "Q of every action of the batch, in its order.")
        .attr("messages_per_call") = Network::messages_per_call;
    m.def("q_heuristic", native_q_heuristic, "encoder"_a, "q_function"_a, nb::kw_only(), "plans"_a.none() = nb::none(),
          "messages_per_call"_a, "name"_a, "model"_a, "-Q(s, a) of a native network as a heuristic.");
    m.def("q_heuristic", python_q_heuristic, "encoder"_a, "q_function"_a, nb::kw_only(), "plans"_a.none() = nb::none(),
          "messages_per_call"_a, "name"_a, "model"_a, "cancel"_a.none() = nb::none(),
          "The same of a function that maps an encoded batch to float32 values, or raises MemoryError if it is too large. "
          "The search calls it in another thread; cancel() makes a call that is under way end soon.");
    m.def("applicable_rows", [](StateSpace &space, IntArray states) {
        Rows rows;
        for (size_t i = 0; i < states.size(); ++i) {
            check_state(space, states.data()[i]);
            space.load(states.data()[i]);
            space.applicable(rows.values);
            rows.close();
        }
        return nb::make_tuple(to_numpy(std::move(rows.begin)), to_numpy(std::move(rows.values)));
    }, "space"_a, "states"_a, "Applicable operators of several states: (begin, operators).");
}

void bind_episodes(nb::module_ &m) {
    nb::class_<Episode>(m, "Episode", "A search episode of GSP that waits for Q-values.")
        .def("__init__", [](Episode *self, std::shared_ptr<const LiftedTask> task, double weight, int64_t budget, bool greedy,
                            bool symmetry, std::shared_ptr<Heuristic> dead_ends, std::shared_ptr<Heuristic> guide,
                            double guide_seconds, size_t exact_states, std::shared_ptr<Heuristic> plans) {
            new (self) Episode(std::move(task), {weight, budget, greedy, symmetry, std::move(dead_ends), std::move(guide),
                                                 guide_seconds, exact_states, std::move(plans)});
        }, "task"_a, nb::kw_only(), "weight"_a = 2.0, "budget"_a = 400, "greedy"_a = false, "symmetry"_a = true,
             "dead_ends"_a.none() = nb::none(), "guide"_a.none() = nb::none(),
             "guide_seconds"_a = std::numeric_limits<double>::infinity(), "exact_states"_a = 0, "plans"_a.none() = nb::none())
        .def("advance", &Episode::advance, nb::call_guard<nb::gil_scoped_release>(),
             "Goes on until Q-values of `pending` are needed (True) or the episode is over (False).")
        .def_prop_ro("pending", &Episode::pending)
        .def("feed", [](Episode &e, FloatArray q) { e.feed({q.data(), q.size()}); }, "q"_a)
        .def("num_actions", [](Episode &e, int32_t state) { check_state(e.space(), state); return e.actions(state).size(); })
        .def_prop_ro("solved", &Episode::solved)
        .def_prop_ro("exact", &Episode::exact, "Whether the state space was searched exhaustively.")
        .def_prop_ro("expansions", &Episode::expansions)
        .def_prop_ro("plan_length", &Episode::plan_length)
        .def_prop_ro("plan", &Episode::plan)
        .def("export", [](Episode &e, bool plan_only) { return to_numpy(e.record(plan_only)); }, "plan_only"_a = false,
             "The episode, or its plan with the states on it, as one int32 array that another process can restore.")
        .def_static("restore", [](std::shared_ptr<const LiftedTask> task, IntArray record) {
            return Episode::restore(std::move(task), {record.data(), record.size()});
        }, "task"_a, "record"_a, "A finished episode from its export, for the same task.")
        .def("transitions", [](const Episode &e) {
            return nb::make_tuple(column<int32_t>(e, [](auto &t) { return t.state; }),
                                  column<int32_t>(e, [](auto &t) { return t.action; }),
                                  column<int32_t>(e, [](auto &t) { return t.successor; }),
                                  column<int32_t>(e, [](auto &t) { return t.cost; }),
                                  column<float>(e, [](auto &t) { return t.bound; }),
                                  column<int8_t>(e, [](auto &t) { return t.kind; }));
        }, "Columns state, action, successor, cost, bound and kind (0 inner, 1 goal, 2 dead end, 3 exact).");
    m.def("encode_states", encode_states, "encoders"_a, "episodes"_a, "states"_a);
    m.def("feed_all", [](const std::vector<Episode *> &episodes, FloatArray q) {
        size_t used = 0;
        for (Episode *episode : episodes) {
            size_t count = episode->pending() < 0 ? 0 : episode->actions(episode->pending()).size();
            if (used + count > q.size()) throw nb::value_error("too few Q-values");
            episode->feed({q.data() + used, count});
            used += count;
        }
    }, "episodes"_a, "q"_a, "Gives the pending states of episodes their values, which stand one after another.");
}

}  // namespace gsp
