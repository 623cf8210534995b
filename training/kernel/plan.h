// A batch of states made ready for message passing: what is equal is computed once.
//
// Before the first layer all nodes are equal. After a layer those are equal that were so before and have received the same
// messages (the colours of Weisfeiler and Leman). So each layer has a graph of its own, of distinct nodes and distinct atoms,
// until nothing more can be told apart. Equality is that of 64-bit hashes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

using i32 = std::int32_t;
using i64 = std::int64_t;

// The distinct atoms of a relation in one layer. A slot is a node at some position: the first layer of an MLP is a sum over the
// positions, and each term is computed once per slot instead of once per atom.
struct Relation {
    i64 number, arity, hidden;   // hidden: units of its MLP
    i64 row, unit;               // its first row and hidden unit among those of the layer
    i64 count = 0;               // atoms
    std::vector<i32> slot_node{};  // [slots], position by position
    std::vector<i64> slot_end{};   // [arity]
};

// The graph of one layer; a row is an argument of an atom.
struct Layer {
    i64 inputs = 0, outputs = 0;      // distinct nodes before and after the layer
    i64 rows = 0, units = 0;          // arguments and hidden units of all atoms
    std::vector<Relation> relations;  // those that have atoms
    std::vector<i32> slot;            // of each row, among the slots of its relation
    std::vector<i32> receiver;        // the outputs that receive the message of row r: receiver_begin[r] ... [r + 1]
    std::vector<i32> receiver_begin;
    std::vector<i32> before;          // what each output was before the layer
};

// The atoms of a batch, relation by relation.
struct Atoms {
    std::span<const i64> arity, hidden, count;
    const i64 *node;
    i64 nodes;
};

class Plan {
public:
    // `as_sets`: equal messages to a node count once, as they do for a maximum.
    Plan(const Atoms &atoms, i64 layers, bool as_sets);
    const Layer &layer(i64 number) const { return layers_[number < i64(layers_.size()) ? number : layers_.size() - 1]; }
    // The output of the last layer for each node of the batch.
    const std::vector<i32> &result() const { return node_class_; }

private:
    std::vector<Layer> layers_;  // the last one stands for all others
    std::vector<i32> node_class_;
};
