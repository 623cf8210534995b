// Small building blocks shared by the whole core.
#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace gsp {

/// Wrong user input found by the core; `line` is 0 where there is none.
struct InputError : std::runtime_error {
    InputError(const std::string &message, long line = 0) : std::runtime_error(message), line(line) {}
    long line;
};

/// A limit or a signal ended the work before it was done.
enum class Stop { none, time, memory, interrupted };

struct Stopped : std::runtime_error {
    explicit Stopped(Stop reason) : std::runtime_error("stopped"), reason(reason) {}
    Stop reason;
};

inline uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

inline uint64_t hash_ints(const int32_t *values, size_t count, uint64_t seed = 0) {
    uint64_t h = mix(seed + count);
    for (size_t i = 0; i < count; ++i) h = mix(h ^ static_cast<uint32_t>(values[i]));
    return h;
}

/// Time, memory and signals, looked at every few milliseconds whatever the caller's rate of calls.
class Watch {
public:
    /// CPU seconds the process may use from now on; infinity for no limit. `poll` returns true to stop (signals).
    Watch(double cpu_seconds, size_t max_kb, std::function<bool()> poll);

    /// Cheap enough for every evaluation; the costly checks run at most every 10 ms.
    bool expired() {
        if (stop_ != Stop::none) return true;
        auto now = std::chrono::steady_clock::now();
        if (now < next_) return false;
        return check(now);
    }
    void throw_if_expired() {
        if (expired()) throw Stopped(stop_);
    }
    Stop reason() const { return stop_; }

    /// Throws if the memory limit leaves no room for this many bytes more.
    void expect(size_t bytes);
    /// To be called before anything is appended: a vector that grows needs the room of its elements twice for a moment.
    template<class... T>
    void before_growth(const std::vector<T> &...vectors) {
        ((vectors.size() + most_appended > vectors.capacity() ? expect(vectors.size() * sizeof(T)) : void()), ...);
    }
    /// One step of the work is done: checks the limits, and a few times a second the number of steps is reported.
    void step() {
        ++steps_;
        throw_if_expired();
    }
    void set_report(std::function<void(size_t)> report) { report_ = std::move(report); }

private:
    static constexpr size_t most_appended = 64;  // at once, with one call of before_growth
    bool check(std::chrono::steady_clock::time_point now);

    double cpu_deadline_;
    size_t max_kb_;
    std::function<bool()> poll_;
    std::function<void(size_t)> report_;
    size_t steps_ = 0;
    std::chrono::steady_clock::time_point next_, next_report_;
    Stop stop_ = Stop::none;
};

/// Ends the process with an exit code after some CPU seconds in user mode, whatever it is doing: behind limits that something
/// may fail to look at. 0 seconds: not any more.
void set_last_resort(double seconds, int exit_code);

double cpu_seconds();
size_t resident_kb();
size_t peak_kb();

/// Rows of equal width in segments: growing copies nothing, so memory never doubles for a moment.
template<class T>
class SegmentedRows {
public:
    explicit SegmentedRows(size_t width = 1) : width_(width) {
        size_t rows = 1;
        while (rows < 4096 && rows * width * sizeof(T) < 65536) rows *= 2;
        shift_ = 0;
        while ((size_t{1} << shift_) < rows) ++shift_;
    }
    size_t size() const { return size_; }
    T *operator[](size_t i) { return segments_[i >> shift_].get() + (i & mask()) * width_; }
    const T *operator[](size_t i) const { return segments_[i >> shift_].get() + (i & mask()) * width_; }
    T *push() {
        if ((size_ >> shift_) == segments_.size())
            segments_.emplace_back(std::make_unique_for_overwrite<T[]>(width_ << shift_));
        return (*this)[size_++];
    }
    void pop() { --size_; }
    size_t bytes() const { return segments_.size() * (width_ << shift_) * sizeof(T); }

private:
    size_t mask() const { return (size_t{1} << shift_) - 1; }
    size_t width_, size_ = 0;
    unsigned shift_;
    std::vector<std::unique_ptr<T[]>> segments_;
};

/// Hash set of row numbers; the rows themselves live elsewhere. An entry keeps 32 bits of the hash, so that rehashing and
/// most failed probes touch no row.
class RowSet {
public:
    RowSet() : slots_(1024, empty) {}
    /// The row equal to the probe, or `fresh` after inserting it.
    template<class Equal>
    int32_t find_or_insert(uint64_t hash, int32_t fresh, Equal &&equal) {
        if (2 * count_ >= slots_.size()) grow();
        uint32_t tag = static_cast<uint32_t>(hash ^ (hash >> 32));
        size_t mask = slots_.size() - 1;
        for (size_t i = tag & mask;; i = (i + 1) & mask) {
            uint64_t slot = slots_[i];
            if (slot == empty) {
                slots_[i] = (uint64_t{tag} << 32) | static_cast<uint32_t>(fresh);
                ++count_;
                return fresh;
            }
            if ((slot >> 32) == tag) {
                int32_t row = static_cast<int32_t>(slot & 0xffffffffu);
                if (equal(row)) return row;
            }
        }
    }
    template<class Equal>
    int32_t find(uint64_t hash, Equal &&equal) const {
        uint32_t tag = static_cast<uint32_t>(hash ^ (hash >> 32));
        size_t mask = slots_.size() - 1;
        for (size_t i = tag & mask;; i = (i + 1) & mask) {
            uint64_t slot = slots_[i];
            if (slot == empty) return -1;
            if ((slot >> 32) == tag) {
                int32_t row = static_cast<int32_t>(slot & 0xffffffffu);
                if (equal(row)) return row;
            }
        }
    }
    /// Forgets all rows and makes room for `rows` of them; more may come.
    void reset(size_t rows) {
        slots_.assign(std::bit_ceil(std::max<size_t>(2 * rows, 16)), empty);
        count_ = 0;
    }
    size_t size() const { return count_; }
    size_t bytes() const { return slots_.size() * sizeof(uint64_t); }

private:
    static constexpr uint64_t empty = ~uint64_t{0};
    void grow() {
        std::vector<uint64_t> old(slots_.size() * 2, empty);
        old.swap(slots_);
        size_t mask = slots_.size() - 1;
        for (uint64_t slot : old) {
            if (slot == empty) continue;
            size_t i = (slot >> 32) & mask;
            while (slots_[i] != empty) i = (i + 1) & mask;
            slots_[i] = slot;
        }
    }
    std::vector<uint64_t> slots_;
    size_t count_ = 0;
};

/// Compressed rows of integers: row i is values[begin[i] .. begin[i + 1]).
struct Rows {
    std::vector<int32_t> begin{0};
    std::vector<int32_t> values;

    size_t size() const { return begin.size() - 1; }
    std::span<const int32_t> operator[](size_t i) const {
        return {values.data() + begin[i], static_cast<size_t>(begin[i + 1] - begin[i])};
    }
    template<class Range>
    void push(const Range &row) {
        values.insert(values.end(), row.begin(), row.end());
        begin.push_back(static_cast<int32_t>(values.size()));
    }
    /// Ends a row whose values were appended to `values` directly.
    void close() { begin.push_back(static_cast<int32_t>(values.size())); }
    size_t bytes() const { return (begin.size() + values.size()) * sizeof(int32_t); }
    /// Row j of the result lists the rows of *this that contain j.
    Rows inverted(size_t count) const {
        Rows out;
        out.begin.assign(count + 1, 0);
        for (int32_t v : values) ++out.begin[v + 1];
        for (size_t i = 0; i < count; ++i) out.begin[i + 1] += out.begin[i];
        out.values.resize(values.size());
        std::vector<int32_t> next(out.begin.begin(), out.begin.end() - 1);
        for (size_t i = 0; i < size(); ++i)
            for (int32_t v : (*this)[i]) out.values[next[v]++] = static_cast<int32_t>(i);
        return out;
    }
};

}  // namespace gsp
