#include "symmetry.h"

#include <algorithm>
#include <array>

namespace gsp {
namespace {

enum Tag : uint64_t { state_tag = 1, goal_tag = 2, negative_goal_tag = 3, type_tag = 4, own_tag = 5 };

uint64_t tagged(Tag tag, size_t symbol) { return (uint64_t{symbol} << 3) | tag; }

}  // namespace

void ObjectClasses::add_atom(std::vector<Signature> &signatures, uint64_t tag, const int32_t *args, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        if (std::find(args, args + i, args[i]) != args + i) continue;  // each object once
        uint64_t a = mix(tag), b = mix(~tag);
        for (size_t k = 0; k < count; ++k) {
            uint64_t term = args[k] == args[i] ? 0 : static_cast<uint64_t>(args[k]) + 1;
            a = mix(a ^ term);
            b = mix(b + term * 0x9e3779b97f4a7c15ULL);
        }
        // A sum does not depend on the order of the atoms.
        signatures[args[i]].a += a;
        signatures[args[i]].b += b;
    }
}

ObjectClasses::ObjectClasses(const LiftedTask &task)
    : fixed_(task.objects.size()), class_(task.objects.size()), rank_(task.objects.size()) {
    for (const GroundAtom &atom : task.init)
        if (!task.fluent[atom.predicate])
            add_atom(fixed_, tagged(state_tag, atom.predicate), atom.args.data(), atom.args.size());
    for (const GroundAtom &atom : task.goal_positive)
        add_atom(fixed_, tagged(goal_tag, atom.predicate), atom.args.data(), atom.args.size());
    for (const GroundAtom &atom : task.goal_negative)
        add_atom(fixed_, tagged(negative_goal_tag, atom.predicate), atom.args.data(), atom.args.size());
    for (size_t t = 0; t < task.type_members.size(); ++t)
        for (int32_t o : task.type_members[t]) add_atom(fixed_, tagged(type_tag, t), &o, 1);
    // Objects that schemas mention by name are like no other.
    auto fix = [&](int32_t term) {
        if (term < 0) add_atom(fixed_, tagged(own_tag, static_cast<size_t>(-term)), std::array{-term - 1}.data(), 1);
    };
    auto fix_all = [&](const std::vector<Literal> &literals) {
        for (const Literal &literal : literals) std::for_each(literal.args.begin(), literal.args.end(), fix);
    };
    auto fix_rule = [&](const Rule &rule) {
        for (const auto *part : {&rule.positive, &rule.negative, &rule.add, &rule.del}) fix_all(*part);
        for (const auto *part : {&rule.equal, &rule.unequal})
            for (auto [a, b] : *part) fix(a), fix(b);
    };
    for (const Schema &schema : task.schemas) {
        fix_rule(schema);
        fix_all(schema.cost_terms);
        std::for_each(schema.alternatives.begin(), schema.alternatives.end(), fix_rule);
        std::for_each(schema.conditional.begin(), schema.conditional.end(), fix_rule);
    }
    for (const auto &stratum : task.axioms) std::for_each(stratum.begin(), stratum.end(), fix_rule);
    for (size_t f = 0; f < task.function_values.size(); ++f)
        for (const auto &[args, value] : task.function_values[f])
            add_atom(fixed_, mix(tagged(own_tag, f) ^ (static_cast<uint64_t>(value) << 20)), args.data(), args.size());
}

void ObjectClasses::compute(std::span<const int32_t> atoms, const TupleTable &table) {
    current_ = fixed_;
    for (int32_t atom : atoms)
        add_atom(current_, tagged(state_tag, table.symbol(atom)), table.args(atom), table.count(atom));
    RowSet representatives;
    size_.clear();
    std::vector<int32_t> first;  // object that opened each class
    for (size_t o = 0; o < current_.size(); ++o) {
        int32_t fresh = static_cast<int32_t>(first.size());
        int32_t c = representatives.find_or_insert(current_[o].a, fresh,
                                                   [&](int32_t other) { return current_[first[other]] == current_[o]; });
        if (c == fresh) {
            first.push_back(static_cast<int32_t>(o));
            size_.push_back(0);
        }
        class_[o] = c;
        rank_[o] = size_[c]++;
    }
}

bool ObjectClasses::is_representative(const int32_t *objects, size_t count) const {
    for (size_t i = 0; i < count; ++i) {
        if (std::find(objects, objects + i, objects[i]) != objects + i) continue;
        int32_t used = 0;  // distinct objects of this class before position i
        for (size_t k = 0; k < i; ++k)
            used += class_[objects[k]] == class_[objects[i]] && std::find(objects, objects + k, objects[k]) == objects + k;
        if (rank_[objects[i]] != used) return false;
    }
    return true;
}

void ObjectClasses::representative(const int32_t *objects, size_t count, int32_t *out) const {
    for (size_t i = 0; i < count; ++i) {
        auto earlier = static_cast<size_t>(std::find(objects, objects + i, objects[i]) - objects);
        if (earlier < i) {
            out[i] = out[earlier];
            continue;
        }
        int32_t used = 0;  // distinct objects of this class before position i
        for (size_t k = 0; k < i; ++k)
            used += class_[objects[k]] == class_[objects[i]] && std::find(objects, objects + k, objects[k]) == objects + k;
        int32_t member = 0;
        while (class_[member] != class_[objects[i]] || rank_[member] != used) ++member;
        out[i] = member;
    }
}

double ObjectClasses::orbit_size(const int32_t *objects, size_t count) const {
    double size = 1;
    for (size_t i = 0; i < count; ++i)
        if (std::find(objects, objects + i, objects[i]) == objects + i)
            size *= class_size(objects[i]) - rank_[objects[i]];
    return size;
}

}  // namespace gsp
