#include "plan.h"

#include <utility>

#include "common.h"

namespace {

// The classes of equal nodes, refined layer by layer.
class Refinement {
public:
    Refinement(const Atoms &atoms, bool as_sets) : atoms_(atoms), as_sets_(as_sets), node_class_(atoms.nodes, 0), colour_{1} {
        for (std::size_t r = 0; r < atoms.arity.size(); ++r) rows_ += atoms.arity[r] * atoms.count[r];
        place_begin_.assign(atoms.nodes + 1, 0);
        for (i64 row = 0; row < rows_; ++row) ++place_begin_[atoms.node[row] + 1];
        for (i64 n = 0; n < atoms.nodes; ++n) place_begin_[n + 1] += place_begin_[n];
        place_.resize(rows_);
        std::vector<i32> next(place_begin_.begin(), place_begin_.end() - 1);
        for (i64 row = 0; row < rows_; ++row) place_[next[atoms.node[row]]++] = static_cast<i32>(row);
    }

    // The graph of the next layer.
    Layer refine() {
        Layer graph;
        graph.inputs = static_cast<i64>(colour_.size());
        find_atoms(graph);
        find_slots(graph);
        find_outputs(graph);
        return graph;
    }
    std::vector<i32> classes() && { return std::move(node_class_); }

private:
    void find_atoms(Layer &graph) {
        // Where nearly every node is alone in its class, so is nearly every atom: looking for the others does not pay.
        const bool all_distinct = 4 * graph.inputs > 3 * atoms_.nodes;
        known_.reset(all_distinct ? 0 : rows_);
        distinct_row_.resize(rows_);
        for (auto *part : {&argument_, &first_row_}) part->clear();
        for (auto *part : {&row_hash_, &atom_hash_}) part->clear();
        i64 row = 0;
        for (std::size_t r = 0; r < atoms_.arity.size(); ++r) {
            if (!atoms_.count[r]) continue;
            const i64 arity = atoms_.arity[r];
            Relation relation{static_cast<i64>(r), arity, atoms_.hidden[r], static_cast<i64>(argument_.size()), graph.units};
            for (i64 end = row + arity * atoms_.count[r]; row < end; row += arity) {
                std::uint64_t hash = gsp::mix(r + 1);
                for (i64 a = 0; a < arity; ++a) hash = gsp::mix(hash + colour_[node_class_[atoms_.node[row + a]]]);
                const auto fresh = static_cast<i32>(atom_hash_.size());
                const auto equal = [&](i32 other) { return atom_hash_[other] == hash; };
                const i32 atom = all_distinct ? fresh : known_.find_or_insert(hash, fresh, equal);
                if (atom == fresh) {
                    atom_hash_.push_back(hash);
                    first_row_.push_back(static_cast<i32>(argument_.size()));
                    for (i64 a = 0; a < arity; ++a) {
                        argument_.push_back(node_class_[atoms_.node[row + a]]);
                        row_hash_.push_back(gsp::mix(hash + static_cast<std::uint64_t>(a)));
                    }
                    ++relation.count;
                }
                for (i64 a = 0; a < arity; ++a) distinct_row_[row + a] = first_row_[atom] + static_cast<i32>(a);
            }
            graph.units += relation.count * relation.hidden;
            graph.relations.push_back(std::move(relation));
        }
        graph.rows = static_cast<i64>(argument_.size());
    }

    void find_slots(Layer &graph) const {
        std::vector<i32> last(graph.inputs, -1), place(graph.inputs);
        graph.slot.resize(graph.rows);
        i32 position = 0;
        for (Relation &r : graph.relations)
            for (i64 a = 0; a < r.arity; ++a, ++position) {
                for (i64 row = r.row + a; row < r.row + r.count * r.arity; row += r.arity) {
                    const i32 node = argument_[row];
                    if (last[node] != position) {
                        last[node] = position;
                        place[node] = static_cast<i32>(r.slot_node.size());
                        r.slot_node.push_back(node);
                    }
                    graph.slot[row] = place[node];
                }
                r.slot_end.push_back(static_cast<i64>(r.slot_node.size()));
            }
    }

    void find_outputs(Layer &graph) {
        std::vector<std::uint64_t> colours;
        std::vector<i32> seen(as_sets_ ? graph.rows : 0, -1), rows, edge_row, edge_node;
        known_.reset(atoms_.nodes);
        for (i64 n = 0; n < atoms_.nodes; ++n) {
            std::uint64_t colour = colour_[node_class_[n]];
            rows.clear();
            for (i32 p = place_begin_[n]; p < place_begin_[n + 1]; ++p) {
                const i32 row = distinct_row_[place_[p]];
                if (as_sets_ && std::exchange(seen[row], static_cast<i32>(n)) == n) continue;
                colour += row_hash_[row];
                rows.push_back(row);
            }
            colour = gsp::mix(colour);
            const auto fresh = static_cast<i32>(colours.size());
            const i32 found = known_.find_or_insert(colour, fresh, [&](i32 other) { return colours[other] == colour; });
            if (found == fresh) {
                colours.push_back(colour);
                graph.before.push_back(node_class_[n]);
                edge_row.insert(edge_row.end(), rows.begin(), rows.end());
                edge_node.resize(edge_row.size(), fresh);
            }
            node_class_[n] = found;
        }
        colour_ = std::move(colours);
        graph.outputs = static_cast<i64>(colour_.size());
        graph.receiver_begin.assign(graph.rows + 2, 0);
        graph.receiver.resize(edge_row.size());
        i32 *next = graph.receiver_begin.data() + 1;  // in the end that of a row is the begin of the next one
        for (i32 row : edge_row) ++next[row + 1];
        for (i64 row = 0; row < graph.rows; ++row) next[row + 1] += next[row];
        for (std::size_t e = 0; e < edge_row.size(); ++e) graph.receiver[next[edge_row[e]]++] = edge_node[e];
    }

    const Atoms &atoms_;
    bool as_sets_;
    i64 rows_ = 0;
    std::vector<i32> place_begin_, place_;  // the rows of the batch in which each node occurs
    std::vector<i32> node_class_;           // of each node of the batch
    std::vector<std::uint64_t> colour_;     // of each class
    // Of the layer at hand: the distinct row for each row of the batch; the hash of each distinct atom, its first row, and of its
    // rows the hash and the class of the argument.
    std::vector<i32> distinct_row_, first_row_, argument_;
    std::vector<std::uint64_t> atom_hash_, row_hash_;
    gsp::RowSet known_;
};

}  // namespace

Plan::Plan(const Atoms &atoms, i64 layers, bool as_sets) {
    Refinement refinement(atoms, as_sets);
    while (static_cast<i64>(layers_.size()) < layers) {
        layers_.push_back(refinement.refine());
        if (layers_.back().inputs == layers_.back().outputs) break;  // classes have their numbers in the order of the nodes
    }
    node_class_ = std::move(refinement).classes();
}
