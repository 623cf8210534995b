#include "ground_space.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "growth.h"

namespace gsp {
namespace {

/// Where each variable lies: the widest first, each into the first word with room.
size_t lay_out(const GroundTask &task, auto &slots) {
    std::vector<int32_t> order(task.variables.size());
    std::iota(order.begin(), order.end(), 0);
    auto bits = [&](int32_t v) { return std::bit_width(static_cast<uint32_t>(task.variables[v].size() - 1)); };
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return bits(a) > bits(b); });
    std::vector<std::vector<uint32_t>> words_with_room(33);  // by free bits
    uint32_t words = 0;
    for (int32_t v : order) {
        uint32_t need = bits(v);
        if (need == 0 || task.variables[v].axiom_layer >= 0) {
            slots[v] = {0, 0, 0};
            continue;
        }
        uint32_t free = need;
        while (free <= 32 && words_with_room[free].empty()) ++free;
        if (free > 32) {
            words_with_room[32].push_back(words++);
            free = 32;
        }
        uint32_t word = words_with_room[free].back();
        words_with_room[free].pop_back();
        slots[v] = {word, 32 - free, need == 32 ? ~0u : (1u << need) - 1};
        words_with_room[free - need].push_back(word);
    }
    return std::max<size_t>(words, 1);
}

}  // namespace

GroundSpace::GroundSpace(std::shared_ptr<const GroundTask> task)
    : task_(std::move(task)), slots_(task_->variables.size()), words_(lay_out(*task_, slots_)), states_(words_),
      values_(task_->variables.size()) {
    zobrist_.resize(task_->num_facts());
    for (size_t i = 0; i < zobrist_.size(); ++i) zobrist_[i] = mix(i + 1);
    effect_begin_.push_back(0);
    for (const Operator &op : task_->operators) {
        for (const Effect &effect : op.effects) {
            auto begin = static_cast<int32_t>(conditions_.size());
            conditions_.insert(conditions_.end(), effect.conditions.begin(), effect.conditions.end());
            effects_.push_back({effect.fact.variable, effect.fact.value, begin, static_cast<int32_t>(conditions_.size())});
        }
        effect_begin_.push_back(static_cast<int32_t>(effects_.size()));
    }
}

int32_t GroundSpace::initial_state() { return insert(task_->initial.data()); }

int32_t GroundSpace::insert(const int32_t *values) {
    uint32_t *row = states_.push();
    std::fill(row, row + words_, 0u);
    uint64_t hash = 0;
    for (size_t v = 0; v < slots_.size(); ++v) {
        if (slots_[v].mask == 0) continue;
        set(row, static_cast<int32_t>(v), values[v]);
        hash ^= zobrist_[task_->first_fact[v] + values[v]];
    }
    return register_row(hash);
}

void GroundSpace::unpack(int32_t state, int32_t *values) const {
    const uint32_t *row = states_[state];
    for (size_t v = 0; v < slots_.size(); ++v)
        values[v] = static_cast<int32_t>((row[slots_[v].word] >> slots_[v].shift) & slots_[v].mask);
    task_->evaluate_axioms(values);
}

void GroundSpace::load(int32_t state) {
    if (state == current_) return;
    current_ = state;
    unpack(state, values_.data());
    hash_ = 0;
    for (size_t v = 0; v < slots_.size(); ++v)
        if (slots_[v].mask != 0) hash_ ^= zobrist_[task_->first_fact[v] + values_[v]];
}

uint64_t GroundSpace::push_successor(int32_t op) {
    expect_growth(index_, watch_);
    uint32_t *row = states_.push();
    std::memcpy(row, states_[current_], words_ * sizeof(uint32_t));
    uint64_t hash = hash_;
    for (int32_t e = effect_begin_[op]; e < effect_begin_[op + 1]; ++e) {
        const FlatEffect &effect = effects_[e];
        bool fires = true;
        for (int32_t c = effect.condition_begin; c < effect.condition_end && fires; ++c)
            fires = values_[conditions_[c].variable] == conditions_[c].value;
        if (!fires || slots_[effect.variable].mask == 0) continue;
        // Two effects may set one variable (the last one wins), so the old value is read from the new row.
        const Slot &slot = slots_[effect.variable];
        auto old = static_cast<int32_t>((row[slot.word] >> slot.shift) & slot.mask);
        const int32_t first = task_->first_fact[effect.variable];
        hash ^= zobrist_[first + old] ^ zobrist_[first + effect.value];
        set(row, effect.variable, effect.value);
    }
    return hash;
}

int32_t GroundSpace::apply(int32_t op) { return register_row(push_successor(op)); }

int32_t GroundSpace::find_successor(int32_t op) {
    const uint64_t hash = push_successor(op);
    const uint32_t *row = states_[states_.size() - 1];
    int32_t found = index_.find(hash, [&](int32_t other) {
        return std::memcmp(states_[other], row, words_ * sizeof(uint32_t)) == 0;
    });
    states_.pop();
    return found;
}

int32_t GroundSpace::register_row(uint64_t hash) {
    auto fresh = static_cast<int32_t>(states_.size() - 1);
    const uint32_t *row = states_[fresh];
    int32_t found = index_.find_or_insert(hash, fresh, [&](int32_t other) {
        return std::memcmp(states_[other], row, words_ * sizeof(uint32_t)) == 0;
    });
    if (found != fresh) states_.pop();
    return found;
}

}  // namespace gsp
