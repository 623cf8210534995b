#include "network.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace gsp {
namespace {

const uint64_t START_COLOUR = mix(1);

void copy_rows(const std::vector<float> &from, std::span<const int32_t> rows, int64_t d, std::vector<float> &to) {
    const auto width = static_cast<size_t>(d);
    to.resize(rows.size() * width);
    for (size_t i = 0; i < rows.size(); ++i)
        std::memcpy(to.data() + i * width, from.data() + static_cast<size_t>(rows[i]) * width, width * sizeof(float));
}

}  // namespace

Network::Graph::Graph(const EncodedBatch &batch) : arities(batch.arities), nodes(batch.node_state.size()) {
    const size_t rows = batch.messages();
    int32_t atoms = 0;
    arguments.reserve(rows);
    for (size_t r = 0; r < batch.relations.size(); ++r) {
        relation_begin.push_back(atoms);
        argument_begin.push_back(static_cast<int32_t>(arguments.size()));
        for (int64_t node : batch.relations[r]) arguments.push_back(static_cast<int32_t>(node));
        atoms += static_cast<int32_t>(batch.relations[r].size()) / arities[r];
    }
    relation_begin.push_back(atoms);
    place_begin.assign(nodes + 1, 0);
    for (int32_t node : arguments) ++place_begin[static_cast<size_t>(node) + 1];
    for (size_t n = 0; n < nodes; ++n) place_begin[n + 1] += place_begin[n];
    places.resize(rows);
    std::vector<int32_t> next(place_begin.begin(), place_begin.end() - 1);
    size_t argument = 0;
    for (size_t r = 0; r < arities.size(); ++r)
        for (int32_t atom = relation_begin[r]; atom < relation_begin[r + 1]; ++atom)
            for (int32_t position = 0; position < arities[r]; ++position)
                places[static_cast<size_t>(next[static_cast<size_t>(arguments[argument++])]++)] =
                    static_cast<uint32_t>(atom * MAX_ARITY + position);
}

Network::Network(NetworkWeights weights, size_t kept) : weights_(std::move(weights)), kept_(kept) { forget(); }

void Network::forget() {
    known_.reset(0);
    known_colour_.clear();
    known_row_.clear();
    embeddings_.assign(static_cast<size_t>(weights_.d), 0.0f);
    action_values_.clear();
}

std::vector<float> Network::q_values(const EncodedBatch &batch, Watch *watch) try {
    watch_ = watch;
    if (known_row_.size() > kept_) forget();
    const Graph graph(batch);
    Classes classes{std::vector<int32_t>(graph.nodes, 0), {START_COLOUR}, {0}};
    int64_t layer = 1;
    while (layer <= weights_.layers && !few_share(graph, classes)) classes = refine(graph, classes, layer++);
    const size_t kept = embeddings_.size();
    if (layer <= weights_.layers) classes = compute_each(graph, classes, layer);
    std::vector<float> result = read_out(batch, classes);
    embeddings_.resize(kept);
    action_values_.resize(kept / static_cast<size_t>(weights_.d));
    return result;
} catch (...) {  // out of memory or time: known classes may lack their embeddings
    forget();
    throw;
}

/// Whether most nodes have a class of their own that no earlier call computed: more of them will in every layer that follows,
/// and hardly another state has these classes, unless it is the same. Then looking for what is shared does not pay.
bool Network::few_share(const Graph &graph, const Classes &classes) const { return 2 * classes.fresh > graph.nodes; }

/// The remaining layers, in which every node is a class of its own. Their embeddings are not known to later calls.
Network::Classes Network::compute_each(const Graph &graph, const Classes &classes, int64_t layer) {
    Classes each;
    std::vector<int32_t> nodes(graph.nodes);
    std::iota(nodes.begin(), nodes.end(), 0);
    each.of_node = nodes;
    for (int32_t cls : classes.of_node) each.row.push_back(classes.row[cls]);
    for (int32_t cls : classes.of_node) each.colour.push_back(classes.colour[cls]);
    find_tuples(graph, each);
    plan_messages(graph, each, nodes);
    const auto width = static_cast<size_t>(weights_.d);
    for (; layer <= weights_.layers; ++layer) {
        const bool last = layer == weights_.layers;
        const auto first = static_cast<int32_t>(embeddings_.size() / width);
        compute(graph, each, nodes, last);
        for (size_t n = 0; n < graph.nodes; ++n) each.row[n] = first + static_cast<int32_t>(n) * (last ? 2 : 1);
    }
    return each;
}

void Network::find_tuples(const Graph &graph, const Classes &classes) {
    const auto atoms = static_cast<size_t>(graph.relation_begin.back());
    // Where nearly every node is alone in its class, so is nearly every atom: looking for the others does not pay.
    const bool all_distinct = 4 * classes.colour.size() > 3 * graph.nodes;
    tuples_.of_atom.resize(atoms);
    for (auto *part : {&tuples_.relation_begin, &tuples_.atom, &tuples_.slot}) part->clear();
    tuples_.hash.clear();
    tuples_.slots = 0;
    distinct_.reset(all_distinct ? 0 : atoms);
    const int32_t *argument = graph.arguments.data();
    for (size_t r = 0; r < graph.arities.size(); ++r) {
        const uint64_t seed = mix(r + 1);
        tuples_.relation_begin.push_back(static_cast<int32_t>(tuples_.atom.size()));
        for (int32_t atom = graph.relation_begin[r]; atom < graph.relation_begin[r + 1]; ++atom) {
            uint64_t hash = seed;
            for (int32_t position = 0; position < graph.arities[r]; ++position, ++argument)
                hash = mix(hash + classes.colour[classes.of_node[*argument]]);
            const auto found = static_cast<int32_t>(tuples_.atom.size());
            const auto equal = [&](int32_t other) { return tuples_.hash[other] == hash; };
            const int32_t tuple = all_distinct ? found : distinct_.find_or_insert(hash, found, equal);
            tuples_.of_atom[atom] = tuple;
            if (tuple < found) continue;
            tuples_.hash.push_back(hash);
            tuples_.atom.push_back(atom);
            tuples_.slot.push_back(tuples_.slots);
            tuples_.slots += graph.arities[r];
        }
    }
    tuples_.relation_begin.push_back(static_cast<int32_t>(tuples_.atom.size()));
}

Network::Classes Network::refine(const Graph &graph, const Classes &classes, int64_t layer) {
    if (watch_) watch_->throw_if_expired();
    find_tuples(graph, classes);
    Classes next;
    next.of_node.resize(graph.nodes);
    std::vector<int32_t> member;  // a node of each class
    seen_.assign(static_cast<size_t>(tuples_.slots), -1);
    distinct_.reset(graph.nodes);
    for (size_t n = 0; n < graph.nodes; ++n) {
        uint64_t colour = classes.colour[classes.of_node[n]] + static_cast<uint64_t>(layer);
        for (int32_t i = graph.place_begin[n]; i < graph.place_begin[n + 1]; ++i) {
            const int32_t tuple = tuples_.of_atom[graph.places[i] / MAX_ARITY];
            const auto position = static_cast<int32_t>(graph.places[i] % MAX_ARITY);
            int32_t &seen = seen_[tuples_.slot[tuple] + position];
            if (seen == static_cast<int32_t>(n)) continue;
            seen = static_cast<int32_t>(n);
            colour += mix(tuples_.hash[tuple] + static_cast<uint64_t>(position));
        }
        colour = mix(colour);
        const auto found = static_cast<int32_t>(member.size());
        next.of_node[n] =
            distinct_.find_or_insert(colour, found, [&](int32_t other) { return next.colour[other] == colour; });
        if (next.of_node[n] < found) continue;
        member.push_back(static_cast<int32_t>(n));
        next.colour.push_back(colour);
    }
    const bool last = layer == weights_.layers;
    const auto width = static_cast<size_t>(weights_.d);
    auto rows = static_cast<int32_t>(embeddings_.size() / width);
    std::vector<int32_t> unknown;
    for (size_t c = 0; c < member.size(); ++c) {
        const uint64_t colour = next.colour[c];
        const auto found = static_cast<int32_t>(known_row_.size());
        const int32_t number =
            known_.find_or_insert(colour, found, [&](int32_t other) { return known_colour_[other] == colour; });
        if (number == found) {
            known_colour_.push_back(colour);
            known_row_.push_back(rows);
            unknown.push_back(member[c]);
            rows += last ? 2 : 1;
        }
        next.row.push_back(known_row_[number]);
    }
    next.fresh = unknown.size();
    if (unknown.empty()) return next;
    plan_messages(graph, classes, unknown);
    compute(graph, classes, unknown, last);
    return next;
}

/// Appends the embeddings of these nodes after one more layer; after the last one each is followed by its term of the pool.
void Network::compute(const Graph &graph, const Classes &old, std::span<const int32_t> nodes, bool last) {
    const auto count = static_cast<int64_t>(nodes.size());
    const auto width = static_cast<size_t>(weights_.d);
    pass_planned(old, nodes.size());
    std::vector<const float *> before;
    for (size_t i = 0; i < nodes.size(); ++i) {
        before.push_back(embeddings_.data() + static_cast<size_t>(old.row[old.of_node[nodes[i]]]) * width);
        if (graph.place_begin[nodes[i]] == graph.place_begin[nodes[i] + 1])
            std::fill_n(aggregated_.data() + i * width, width, 0.0f);
    }
    std::vector<float> x(nodes.size() * width);
    update(weights_.update, weights_.norm_weight.data(), weights_.norm_bias.data(), count, before.data(), aggregated_.data(),
           x.data());
    if (!last) {
        embeddings_.insert(embeddings_.end(), x.begin(), x.end());
        return;
    }
    std::vector<float> pooled = x;
    if (weights_.pool == Pool::phi) apply(weights_.phi, count, x.data(), pooled.data());
    for (size_t at = 0; at < x.size(); at += width) {
        embeddings_.insert(embeddings_.end(), x.begin() + at, x.begin() + at + width);
        embeddings_.insert(embeddings_.end(), pooled.begin() + at, pooled.begin() + at + width);
    }
}

/// Which messages come to these nodes, in plan_.
void Network::plan_messages(const Graph &graph, const Classes &old, std::span<const int32_t> nodes) {
    first_receiver_.assign(static_cast<size_t>(tuples_.slots), -1);
    plan_.receivers.clear();
    for (size_t i = 0; i < nodes.size(); ++i)
        for (int32_t p = graph.place_begin[nodes[i]]; p < graph.place_begin[nodes[i] + 1]; ++p) {
            const int32_t tuple = tuples_.of_atom[graph.places[p] / MAX_ARITY];
            int32_t &first = first_receiver_[tuples_.slot[tuple] + static_cast<int32_t>(graph.places[p] % MAX_ARITY)];
            if (first >= 0 && plan_.receivers[first].row == static_cast<int32_t>(i)) continue;
            plan_.receivers.push_back({static_cast<int32_t>(i), first});
            first = static_cast<int32_t>(plan_.receivers.size()) - 1;
        }
    plan_.relations.resize(graph.arities.size());
    std::vector<int32_t> atoms, row_of_class(old.row.size());
    for (size_t r = 0; r < graph.arities.size(); ++r) {
        if (watch_) watch_->throw_if_expired();
        auto &[first_receiver, projected_row, classes] = plan_.relations[r];
        const auto arity = static_cast<size_t>(graph.arities[r]);
        atoms.clear();  // of the tuples with receivers
        first_receiver.clear();
        for (int32_t t = tuples_.relation_begin[r]; t < tuples_.relation_begin[r + 1]; ++t) {
            const int32_t *first = first_receiver_.data() + tuples_.slot[t];
            if (std::all_of(first, first + arity, [](int32_t receiver) { return receiver < 0; })) continue;
            atoms.push_back(tuples_.atom[t]);
            first_receiver.insert(first_receiver.end(), first, first + arity);
        }
        if (atoms.empty()) continue;
        projected_row.resize(atoms.size() * arity);
        for (size_t p = 0; p < arity; ++p) {
            classes[p].clear();
            std::fill(row_of_class.begin(), row_of_class.end(), -1);
            for (size_t a = 0; a < atoms.size(); ++a) {
                const auto argument = static_cast<size_t>(graph.argument_begin[r]) +
                                      static_cast<size_t>(atoms[a] - graph.relation_begin[r]) * arity + p;
                const int32_t cls = old.of_node[graph.arguments[argument]];
                if (row_of_class[cls] < 0) {
                    row_of_class[cls] = static_cast<int32_t>(classes[p].size());
                    classes[p].push_back(cls);
                }
                projected_row[a * arity + p] = row_of_class[cls];
            }
        }
    }
}

/// The maximum of the messages to each of `count` nodes, in aggregated_, by the plan; lowest numbers where there is none.
void Network::pass_planned(const Classes &old, size_t count) {
    const auto width = static_cast<size_t>(weights_.d);
    aggregated_.assign(count * width, -FLT_MAX);
    std::vector<int32_t> rows;
    for (size_t r = 0; r < plan_.relations.size(); ++r) {
        if (watch_) watch_->throw_if_expired();
        const Mlp &mlp = weights_.relations[r];
        const MessagePlan::Relation &plan = plan_.relations[r];
        const auto arity = static_cast<size_t>(mlp.inputs) / width, tuples = plan.first_receiver.size() / arity;
        if (tuples == 0) continue;
        RelationMessages call{static_cast<int64_t>(tuples), static_cast<int64_t>(arity), weights_.d, mlp.hidden, {},
                              plan.projected_row.data(), mlp.w2.data(), plan.first_receiver.data(), plan_.receivers.data(),
                              aggregated_.data()};
        for (size_t p = 0; p < arity; ++p) {
            rows.clear();
            for (int32_t cls : plan.classes[p]) rows.push_back(old.row[cls]);
            copy_rows(embeddings_, rows, weights_.d, inputs_);
            projected_[p].resize(rows.size() * static_cast<size_t>(mlp.hidden));
            multiply(static_cast<int64_t>(rows.size()), weights_.d, mlp.hidden, inputs_.data(),
                     mlp.w1.data() + p * width * static_cast<size_t>(mlp.hidden), p == 0 ? mlp.b1.data() : nullptr,
                     projected_[p].data());
            call.projected[p] = projected_[p].data();
        }
        pass_messages(call);
    }
}

void Network::compute_action_values(std::span<const int32_t> rows) {
    copy_rows(embeddings_, rows, weights_.d, inputs_);
    const auto outputs = static_cast<size_t>(weights_.action_value.outputs);
    std::vector<float> values(rows.size() * outputs);
    apply(weights_.action_value, static_cast<int64_t>(rows.size()), inputs_.data(), values.data());
    for (size_t i = 0; i < rows.size(); ++i) action_values_[rows[i]] = values[i * outputs];
}

std::vector<float> Network::read_out(const EncodedBatch &batch, const Classes &classes) {
    const auto width = static_cast<size_t>(weights_.d), states = batch.state_sizes.size();
    std::vector<float> pooled(states * width, 0.0f);
    for (size_t n = 0; n < batch.node_state.size(); ++n) {
        const float *term = embeddings_.data() + static_cast<size_t>(classes.row[classes.of_node[n]] + 1) * width;
        float *sum = pooled.data() + static_cast<size_t>(batch.node_state[n]) * width;
        for (size_t j = 0; j < width; ++j) sum[j] += term[j];
    }
    if (weights_.pool == Pool::mean)
        for (size_t i = 0; i < pooled.size(); ++i) pooled[i] /= batch.state_sizes[i / width];
    const auto outputs = static_cast<size_t>(weights_.state_value.outputs);
    std::vector<float> of_state(states * outputs), result;
    apply(weights_.state_value, static_cast<int64_t>(states), pooled.data(), of_state.data());
    action_values_.resize(embeddings_.size() / width, std::numeric_limits<float>::quiet_NaN());
    std::vector<int32_t> rows, unknown;
    for (int64_t node : batch.action_node) {
        rows.push_back(classes.row[classes.of_node[static_cast<size_t>(node)]]);
        if (std::isnan(action_values_[rows.back()])) unknown.push_back(rows.back());
    }
    compute_action_values(unknown);
    for (size_t a = 0; a < rows.size(); ++a)
        result.push_back(action_values_[rows[a]] + of_state[static_cast<size_t>(batch.action_state[a]) * outputs]);
    return result;
}

}  // namespace gsp
