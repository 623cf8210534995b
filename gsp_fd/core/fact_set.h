// Sets of facts that are walked through in the order in which Fast Downward walks through its own.
#pragma once

#include <unordered_set>

#include "ground_task.h"

namespace gsp {

/// Which disjunctive landmarks are kept, of those that overlap, depends on the order in which they are found. With the same
/// hash function (Jenkins' lookup3) and the same kind of table, that order is Fast Downward's, and so are the landmarks.
struct FactHash {
    size_t operator()(Fact fact) const {
        constexpr uint32_t seed = 0xdeadbeef;
        uint32_t a = seed + static_cast<uint32_t>(fact.variable), b = seed + static_cast<uint32_t>(fact.value), c = seed;
        auto mix = [](uint32_t &x, uint32_t y, int bits) { x = (x ^ y) - std::rotl(y, bits); };
        mix(c, b, 14);
        mix(a, c, 11);
        mix(b, a, 25);
        mix(c, b, 16);
        mix(a, c, 4);
        mix(b, a, 14);
        mix(c, b, 24);
        return (static_cast<uint64_t>(b) << 32) | c;
    }
};

using FactSet = std::unordered_set<Fact, FactHash>;

/// What is in both, in the order of the first.
inline FactSet intersection(const FactSet &first, const FactSet &second) {
    FactSet both;
    for (Fact fact : first)
        if (second.contains(fact)) both.insert(fact);
    return both;
}

}  // namespace gsp
