// The priority queue of relaxed explorations.
#pragma once

#include <algorithm>
#include <queue>

#include "common.h"

namespace gsp {

/// For non-negative integer keys that never fall below the last one taken: buckets for small keys, a heap for the rest
/// (action costs may be in the hundreds of thousands). Items of one key leave first come, first served below `fifo_limit`,
/// and by their numbers from there on.
class CostQueue {
public:
    void clear() {
        while (next_bucket()) leave_bucket();
        heap_ = {};
        current_ = position_ = 0;
    }
    void push(int32_t cost, int32_t item) {
        auto c = static_cast<size_t>(cost);
        if (c >= bucket_limit) return heap_.emplace(cost, item), void();
        if (c >= buckets_.size()) {
            buckets_.resize(c + c / 2 + 64);
            filled_.resize(buckets_.size() / 64 + 1, 0);
        }
        filled_[c / 64] |= uint64_t{1} << (c % 64);
        std::vector<int32_t> &bucket = buckets_[c];
        // The bucket that is being emptied is sorted already.
        if (c == current_ && c >= fifo_limit)
            bucket.insert(std::upper_bound(bucket.begin() + static_cast<std::ptrdiff_t>(position_), bucket.end(), item), item);
        else bucket.push_back(item);
    }
    /// False if the queue is empty.
    bool pop(int32_t &cost, int32_t &item) {
        if (current_ >= buckets_.size() || position_ >= buckets_[current_].size()) {
            if (current_ < buckets_.size()) leave_bucket();
            if (!next_bucket()) return pop_heap(cost, item);
            if (current_ >= fifo_limit) std::sort(buckets_[current_].begin(), buckets_[current_].end());
        }
        cost = static_cast<int32_t>(current_);
        item = buckets_[current_][position_++];
        return true;
    }
    /// The item that will be taken after `distance` others of the same cost, or -1 if that is not known.
    int32_t ahead(size_t distance) const {
        if (current_ >= buckets_.size() || position_ + distance >= buckets_[current_].size()) return -1;
        return buckets_[current_][position_ + distance];
    }

    /// Right after the first item of a cost was taken: what waits for the next higher cost, as far as it is known.
    std::span<const int32_t> next_items() const {
        if (position_ != 1 || current_ >= buckets_.size()) return {};
        size_t word = current_ / 64;
        uint64_t rest = filled_[word] & ~((uint64_t{2} << (current_ % 64)) - 1);
        if (rest == 0 && word + 1 < filled_.size()) rest = filled_[++word];
        if (rest == 0) return {};
        return buckets_[word * 64 + static_cast<size_t>(std::countr_zero(rest))];
    }

private:
    static constexpr size_t fifo_limit = 4096, bucket_limit = 1 << 17;
    using Item = std::pair<int32_t, int32_t>;

    void leave_bucket() {
        buckets_[current_].clear();
        filled_[current_ / 64] &= ~(uint64_t{1} << (current_ % 64));
        position_ = 0;
    }
    /// Makes the first bucket that is not empty current; false if there is none.
    bool next_bucket() {
        for (size_t word = current_ / 64; word < filled_.size(); ++word) {
            if (filled_[word] == 0) continue;
            current_ = word * 64 + static_cast<size_t>(std::countr_zero(filled_[word]));
            return true;
        }
        return false;
    }
    bool pop_heap(int32_t &cost, int32_t &item) {
        if (heap_.empty()) return false;
        std::tie(cost, item) = heap_.top();
        heap_.pop();
        return true;
    }

    std::vector<std::vector<int32_t>> buckets_;
    std::vector<uint64_t> filled_;  // one bit per bucket
    std::priority_queue<Item, std::vector<Item>, std::greater<>> heap_;
    size_t current_ = 0, position_ = 0;
};

}  // namespace gsp
