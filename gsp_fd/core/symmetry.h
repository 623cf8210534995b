// Interchangeable objects of a state. Two objects are interchangeable if exchanging them leaves the state, the static atoms,
// the goal and the types as they are; then one applicable action of each class of equivalent ones is enough.
#pragma once

#include "lifted_task.h"

namespace gsp {

class ObjectClasses {
public:
    explicit ObjectClasses(const LiftedTask &task);

    /// Classes for the state whose fluent atoms these are.
    void compute(std::span<const int32_t> atoms, const TupleTable &table);
    int32_t class_of(int32_t object) const { return class_[object]; }
    /// Position of an object among those of its class, in the order of their numbers.
    int32_t rank(int32_t object) const { return rank_[object]; }
    int32_t class_size(int32_t object) const { return size_[class_[object]]; }

    /// Whether a tuple of objects is the representative of its class: of every class the lowest ranks, in order of first use.
    bool is_representative(const int32_t *objects, size_t count) const;
    /// The representative of a tuple's class.
    void representative(const int32_t *objects, size_t count, int32_t *out) const;
    /// The number of tuples that a representative stands for.
    double orbit_size(const int32_t *objects, size_t count) const;

private:
    /// 128 bits, so that different neighbourhoods do not meet by accident.
    struct Signature {
        uint64_t a = 0, b = 0;
        bool operator==(const Signature &) const = default;
    };
    static void add_atom(std::vector<Signature> &signatures, uint64_t tag, const int32_t *args, size_t count);

    std::vector<Signature> fixed_, current_;
    std::vector<int32_t> class_, rank_, size_;
};

}  // namespace gsp
