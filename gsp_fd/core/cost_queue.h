#pragma once

#include <algorithm>
#include <queue>

#include "common.h"

namespace gsp {

/// Priority queue for non-negative integer keys that never fall below the last one taken: buckets for small keys, a heap
/// for the rest (action costs may be in the hundreds of thousands).
class CostQueue {
public:
    void clear() {
        for (size_t c = current_; c <= highest_ && c < buckets_.size(); ++c) buckets_[c].clear();
        heap_ = {};
        current_ = position_ = highest_ = 0;
    }
    void push(int32_t cost, int32_t item) {
        if (static_cast<size_t>(cost) < bucket_limit) {
            if (static_cast<size_t>(cost) >= buckets_.size()) buckets_.resize(cost + 64);
            buckets_[cost].push_back(item);
            highest_ = std::max(highest_, static_cast<size_t>(cost));
        } else {
            heap_.emplace(cost, item);
        }
    }
    /// False if the queue is empty.
    bool pop(int32_t &cost, int32_t &item) {
        while (current_ <= highest_ && current_ < buckets_.size()) {
            if (position_ < buckets_[current_].size()) {
                cost = static_cast<int32_t>(current_);
                item = buckets_[current_][position_++];
                return true;
            }
            buckets_[current_].clear();
            position_ = 0;
            ++current_;
        }
        if (heap_.empty()) return false;
        std::tie(cost, item) = heap_.top();
        heap_.pop();
        return true;
    }

private:
    static constexpr size_t bucket_limit = 4096;
    using Item = std::pair<int32_t, int32_t>;
    std::vector<std::vector<int32_t>> buckets_;
    std::priority_queue<Item, std::vector<Item>, std::greater<>> heap_;
    size_t current_ = 0, position_ = 0, highest_ = 0;
};

}  // namespace gsp
