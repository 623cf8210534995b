#include "open_list.h"

#include <algorithm>
#include <map>

namespace gsp {
namespace {

/// First in, first out. Memory of what was taken is given back when half of it is unused.
class Bucket {
public:
    void push(Entry entry) { entries_.push_back(entry); }
    Entry pop() {
        Entry entry = entries_[head_++];
        if (head_ >= 4096 && head_ * 2 >= entries_.size()) {
            entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(head_));
            head_ = 0;
        }
        return entry;
    }
    bool empty() const { return head_ == entries_.size(); }

private:
    std::vector<Entry> entries_;
    size_t head_ = 0;
};

bool all_dead(const std::vector<EvaluatorPtr> &keys, const Placement &at) {
    return std::all_of(keys.begin(), keys.end(), [&](const EvaluatorPtr &key) {
        return key->value(at.g, at.slots) == dead_end;
    });
}

/// Small integer keys: an array of buckets.
class ArrayBuckets {
public:
    static constexpr size_t limit = 1 << 16;
    static bool fits(double key) { return key >= 0 && key < limit && key == static_cast<double>(static_cast<size_t>(key)); }
    void push(double key, Entry entry) {
        auto index = static_cast<size_t>(key);
        if (index >= buckets_.size()) buckets_.resize(index + 1);
        buckets_[index].push(entry);
        lowest_ = std::min(lowest_, index);
        ++size_;
    }
    bool empty() const { return size_ == 0; }
    double lowest() {
        while (buckets_[lowest_].empty()) ++lowest_;
        return static_cast<double>(lowest_);
    }
    Entry pop() {
        lowest();
        --size_;
        return buckets_[lowest_].pop();
    }
    void clear() {
        buckets_.clear();
        size_ = 0;
        lowest_ = limit;
    }

private:
    std::vector<Bucket> buckets_;
    size_t lowest_ = limit, size_ = 0;
};

/// Any other key: a binary heap with the order of arrival as the last criterion.
class Heap {
public:
    void push(double key, Entry entry) {
        items_.push_back({key, arrival_++, entry});
        std::push_heap(items_.begin(), items_.end(), after);
    }
    bool empty() const { return items_.empty(); }
    double lowest() const { return items_.front().key; }
    Entry pop() {
        std::pop_heap(items_.begin(), items_.end(), after);
        Entry entry = items_.back().entry;
        items_.pop_back();
        return entry;
    }
    void clear() { items_.clear(); }

private:
    struct Item {
        double key;
        uint64_t arrival;
        Entry entry;
    };
    static bool after(const Item &a, const Item &b) {
        return a.key != b.key ? a.key > b.key : a.arrival > b.arrival;
    }
    std::vector<Item> items_;
    uint64_t arrival_ = 0;
};

class SingleOpenList final : public OpenList {
public:
    SingleOpenList(EvaluatorPtr key, bool preferred_only) : OpenList(preferred_only), key_(std::move(key)) {}
    Entry pop() override {
        bool from_buckets = !buckets_.empty() && (heap_.empty() || buckets_.lowest() <= heap_.lowest());
        return from_buckets ? buckets_.pop() : heap_.pop();
    }
    bool empty() const override { return buckets_.empty() && heap_.empty(); }
    void clear() override {
        buckets_.clear();
        heap_.clear();
    }
    bool is_dead_end(const Placement &at) const override {
        return key_->value(at.g, at.slots) == dead_end;
    }
    void collect(Leaves &leaves) override { key_->collect(leaves); }

protected:
    void do_insert(Entry entry, const Placement &at) override {
        double key = key_->value(at.g, at.slots);
        if (key == dead_end) return;
        if (ArrayBuckets::fits(key)) buckets_.push(key, entry);
        else heap_.push(key, entry);
    }

private:
    EvaluatorPtr key_;
    ArrayBuckets buckets_;
    Heap heap_;
};

class TieBreakingOpenList final : public OpenList {
public:
    TieBreakingOpenList(std::vector<EvaluatorPtr> keys, bool preferred_only, bool unsafe_pruning)
        : OpenList(preferred_only), keys_(std::move(keys)), unsafe_pruning_(unsafe_pruning), key_(keys_.size()) {}
    Entry pop() override {
        auto first = buckets_.begin();
        Entry entry = first->second.pop();
        if (first->second.empty()) buckets_.erase(first);
        return entry;
    }
    bool empty() const override { return buckets_.empty(); }
    void clear() override { buckets_.clear(); }
    bool is_dead_end(const Placement &at) const override {
        if (unsafe_pruning_ && keys_[0]->value(at.g, at.slots) == dead_end) return true;
        return all_dead(keys_, at);
    }
    void collect(Leaves &leaves) override {
        for (const EvaluatorPtr &key : keys_) key->collect(leaves);
    }

protected:
    void do_insert(Entry entry, const Placement &at) override {
        for (size_t i = 0; i < keys_.size(); ++i) key_[i] = keys_[i]->value(at.g, at.slots);
        buckets_[key_].push(entry);
    }

private:
    std::vector<EvaluatorPtr> keys_;
    bool unsafe_pruning_;
    std::vector<double> key_;
    std::map<std::vector<double>, Bucket> buckets_;
};

class DepthFirstOpenList final : public OpenList {
public:
    explicit DepthFirstOpenList(EvaluatorPtr key) : OpenList(false), key_(std::move(key)) {}
    bool looks_ahead() const override { return true; }
    Entry pop() override {
        Group &group = groups_.back();
        if (!group.sorted) {
            // The best last; among equals the one inserted first.
            std::stable_sort(group.items.begin(), group.items.end(), [](const Item &a, const Item &b) { return a.key < b.key; });
            std::reverse(group.items.begin(), group.items.end());
            group.sorted = true;
        }
        Entry entry{group.state, group.items.back().op};
        group.items.pop_back();
        if (group.items.empty()) groups_.pop_back();
        return entry;
    }
    bool empty() const override { return groups_.empty(); }
    void clear() override { groups_.clear(); }
    bool is_dead_end(const Placement &at) const override { return key_->value(at.g, at.slots) == dead_end; }
    void collect(Leaves &leaves) override { key_->collect(leaves); }

protected:
    void do_insert(Entry entry, const Placement &at) override {
        if (groups_.empty() || groups_.back().state != entry.state) groups_.push_back({entry.state, {}, false});
        groups_.back().items.push_back({static_cast<float>(key_->value(at.g, at.slots)), entry.op});
        groups_.back().sorted = false;
    }

private:
    struct Item {
        float key;
        int32_t op;
    };
    struct Group {
        int32_t state;
        std::vector<Item> items;
        bool sorted;
    };
    EvaluatorPtr key_;
    std::vector<Group> groups_;
};

class AlternationOpenList final : public OpenList {
public:
    AlternationOpenList(std::vector<OpenListPtr> lists, int32_t boost)
        : OpenList(false), lists_(std::move(lists)), priorities_(lists_.size(), 0), boost_(boost) {}
    Entry pop() override {
        size_t best = lists_.size();
        for (size_t i = 0; i < lists_.size(); ++i)
            if (!lists_[i]->empty() && (best == lists_.size() || priorities_[i] < priorities_[best])) best = i;
        ++priorities_[best];
        return lists_[best]->pop();
    }
    bool empty() const override {
        return std::all_of(lists_.begin(), lists_.end(), [](const OpenListPtr &list) { return list->empty(); });
    }
    void clear() override {
        for (const OpenListPtr &list : lists_) list->clear();
        std::fill(priorities_.begin(), priorities_.end(), 0);
    }
    bool is_dead_end(const Placement &at) const override {
        return std::all_of(lists_.begin(), lists_.end(), [&](const OpenListPtr &list) { return list->is_dead_end(at); });
    }
    void collect(Leaves &leaves) override {
        for (const OpenListPtr &list : lists_) list->collect(leaves);
    }
    bool preferred_only() const override {
        return std::all_of(lists_.begin(), lists_.end(), [](const OpenListPtr &list) { return list->preferred_only(); });
    }
    bool repeats() const override { return true; }
    void boost_preferred() override {
        for (size_t i = 0; i < lists_.size(); ++i) {
            if (lists_[i]->preferred_only()) priorities_[i] -= boost_;
            lists_[i]->boost_preferred();
        }
    }

protected:
    void do_insert(Entry entry, const Placement &at) override {
        for (const OpenListPtr &list : lists_) list->insert(entry, at);
    }

private:
    std::vector<OpenListPtr> lists_;
    std::vector<int64_t> priorities_;
    int32_t boost_;
};

}  // namespace

OpenListPtr make_ordered_open_list(std::vector<EvaluatorPtr> keys, bool preferred_only, bool unsafe_pruning) {
    if (keys.empty()) throw InputError("an open list needs at least one evaluator");
    if (keys.size() == 1) return std::make_shared<SingleOpenList>(std::move(keys[0]), preferred_only);
    return std::make_shared<TieBreakingOpenList>(std::move(keys), preferred_only, unsafe_pruning);
}

OpenListPtr make_depth_first_open_list(EvaluatorPtr key) { return std::make_shared<DepthFirstOpenList>(std::move(key)); }

OpenListPtr make_alternation_open_list(std::vector<OpenListPtr> lists, int32_t boost) {
    if (lists.empty()) throw InputError("alternation needs at least one open list");
    return std::make_shared<AlternationOpenList>(std::move(lists), boost);
}

}  // namespace gsp
