// What a search says while it runs: lines of the log as Fast Downward has them, jumps of f, and progress.
#pragma once

#include <cmath>

#include "search.h"

namespace gsp {

class SearchReports {
public:
    SearchReports(const SearchOptions &options, const std::vector<Heuristic *> &heuristics, SearchResult &result)
        : options_(options), heuristics_(heuristics), result_(result) {}

    void line(const std::string &text) {
        if (options_.log) options_.log(text);
    }
    void initial(const double *values) {
        best_.assign(heuristics_.size(), dead_end);
        for (Heuristic *heuristic : heuristics_)
            line("Initial heuristic value for " + heuristic->name + ": " + number(values[heuristic->slot]));
    }
    /// True if some heuristic has a new best value.
    bool best(uint32_t g, const double *values) {
        bool better = false;
        for (Heuristic *heuristic : heuristics_) {
            double value = values[heuristic->slot];
            if (value >= best_[heuristic->slot]) continue;
            best_[heuristic->slot] = value;
            line("New best heuristic value for " + heuristic->name + ": " + number(value));
            better = true;
        }
        if (better)
            line("[g=" + std::to_string(g) + ", " + std::to_string(result_.evaluated) + " evaluated, " +
                 std::to_string(result_.expanded) + " expanded]");
        return better;
    }
    void f(uint32_t g, const double *values) {
        if (!options_.f) return;
        double f = options_.f->value(double(g), values);
        if (result_.jumped && f <= last_f_) return;
        last_f_ = f;
        result_.jumped = true;
        result_.expanded_jump = result_.expanded;
        result_.reopened_jump = result_.reopened;
        result_.evaluated_jump = result_.evaluated;
        result_.generated_jump = result_.generated;
        line("f = " + number(f) + ", " + std::to_string(result_.evaluated) + " evaluated, " +
             std::to_string(result_.expanded) + " expanded");
    }
    void progress() {
        if (!options_.progress) return;
        auto now = std::chrono::steady_clock::now();
        if (now < next_) return;
        next_ = now + std::chrono::milliseconds(200);
        options_.progress(result_.expanded, result_.evaluated, best_.empty() ? 0 : best_[0]);
    }

private:
    static std::string number(double value) {
        return value == dead_end ? "infinity" : std::to_string(std::llround(value));
    }

    const SearchOptions &options_;
    const std::vector<Heuristic *> &heuristics_;
    SearchResult &result_;
    std::vector<double> best_;
    double last_f_ = 0;
    std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now();
};

}  // namespace gsp
