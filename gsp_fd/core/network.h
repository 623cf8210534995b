// Q(s, a) of a relational network with max aggregation, on the CPU.
//
// After k layers a node's embedding depends only on its neighbourhood of radius k, and on the set of messages in each round,
// not on how often a message comes. So nodes fall into classes, refined layer by layer, whose members have the same embedding:
// each class is computed once, in all states of a batch together, and kept for the states that come next, which differ little.
// A class is known by a 64-bit hash (its colour); two of a million classes share one with probability 3e-8.
// Where a layer finds that little is shared, the layers after it compute every node by itself, and keep nothing.
#pragma once

#include <span>

#include "encoder.h"
#include "network_kernel.h"

namespace gsp {

enum class Pool { phi, sum, mean };

/// The weights, as the ONNX file has them: the relations' MLPs, the update and its norm, and the parts of the readout.
struct NetworkWeights {
    int64_t d = 0, layers = 0;
    Pool pool = Pool::phi;
    std::vector<Mlp> relations;                // inputs = outputs = arity d
    Mlp update, phi, action_value, state_value;  // phi only for Pool::phi; the values have one output, padded to 8
    std::vector<float> norm_weight, norm_bias;
};

class Network {
public:
    /// Takes up to 80 MB with d = 32.
    static constexpr size_t default_kept = 200'000;

    /// Arguments of atoms that one batch should have, about.
    static constexpr double messages_per_call = 100'000;

    /// kept: classes whose embeddings are kept from one call to the next, about.
    explicit Network(NetworkWeights weights, size_t kept = default_kept);

    size_t relations() const { return weights_.relations.size(); }
    /// Q of every action of a batch, in the order of its action_node. Throws Stopped when the watch says so.
    std::vector<float> q_values(const EncodedBatch &batch, Watch *watch = nullptr);

private:
    /// A batch as atoms over nodes, and per node the places (atom, position) where it occurs.
    struct Graph {
        explicit Graph(const EncodedBatch &batch);
        std::vector<int32_t> relation_begin;  // first atom of each relation, and the end
        std::vector<int32_t> argument_begin;  // first argument of each relation
        std::vector<int32_t> arguments, arities;
        std::vector<int32_t> place_begin;     // per node
        std::vector<uint32_t> places;         // atom * MAX_ARITY + position
        size_t nodes;
    };
    /// Classes of nodes after some layer.
    struct Classes {
        std::vector<int32_t> of_node;
        std::vector<uint64_t> colour;
        std::vector<int32_t> row;             // of its embedding in embeddings_
        size_t fresh = 0;                     // how many of them no earlier call computed
    };
    /// Distinct atoms over classes; one relation after another.
    struct Tuples {
        std::vector<int32_t> of_atom, relation_begin, atom, slot;  // slot: its first position among those of all tuples
        std::vector<uint64_t> hash;
        int32_t slots;
    };

    /// Where messages come from and go to, per relation: for the tuples that have receivers.
    struct MessagePlan {
        struct Relation {
            std::vector<int32_t> first_receiver, projected_row;  // per tuple and position, as RelationMessages has them
            std::vector<int32_t> classes[MAX_ARITY];             // of the projected rows
        };
        std::vector<Relation> relations;
        std::vector<Receiver> receivers;
    };

    void forget();
    bool few_share(const Graph &graph, const Classes &classes) const;
    Classes compute_each(const Graph &graph, const Classes &classes, int64_t layer);
    void find_tuples(const Graph &graph, const Classes &classes);
    Classes refine(const Graph &graph, const Classes &classes, int64_t layer);
    void compute(const Graph &graph, const Classes &old, std::span<const int32_t> nodes, bool last);
    void plan_messages(const Graph &graph, const Classes &old, std::span<const int32_t> nodes);
    void pass_planned(const Classes &old, size_t count);
    std::vector<float> read_out(const EncodedBatch &batch, const Classes &classes);
    void compute_action_values(std::span<const int32_t> rows);

    NetworkWeights weights_;
    size_t kept_;
    Watch *watch_ = nullptr;                           // of the call at hand
    std::vector<float> embeddings_;                    // rows of d floats; row 0 is zero; after the last layer two for a class
    std::vector<float> action_values_;                 // by row: value of a node as an action, NaN if nobody asked
    RowSet known_;                                     // all classes that were computed:
    std::vector<uint64_t> known_colour_;
    std::vector<int32_t> known_row_;                   // in embeddings_
    RowSet distinct_;                                  // tuples, then classes, of the layer at hand
    Tuples tuples_;
    std::vector<int32_t> seen_, first_receiver_;
    MessagePlan plan_;
    std::vector<float> aggregated_, inputs_, projected_[MAX_ARITY];
};

}  // namespace gsp
