// What a search says while it runs: lines of the log as Fast Downward has them, jumps of f, and progress.
#pragma once

#include <cmath>
#include <cstdio>

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
        told_.assign(heuristics_.size(), "");
        // A whole number, which is what Downward Lab looks for.
        for (Heuristic *heuristic : heuristics_)
            line("Initial heuristic value for " + heuristic->name + ": " + number(std::round(values[heuristic->slot])));
    }
    /// True if some heuristic has a new best value.
    bool best(uint32_t g, const double *values) {
        bool better = false, told = false;
        for (Heuristic *heuristic : heuristics_) {
            double value = values[heuristic->slot];
            if (value >= best_[heuristic->slot]) continue;
            best_[heuristic->slot] = value;
            better = true;
            // Learned values may differ by less than what is shown of them.
            if (number(value) == told_[heuristic->slot]) continue;
            told_[heuristic->slot] = number(value);
            line("New best heuristic value for " + heuristic->name + ": " + number(value));
            told = true;
        }
        if (told)
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
    /// Whole numbers as they are, others with two decimals.
    static std::string number(double value) {
        if (value == dead_end) return "infinity";
        char text[400];
        std::snprintf(text, sizeof text, value == std::round(value) ? "%.0f" : "%.2f", value == 0 ? 0.0 : value);
        return text;
    }

    const SearchOptions &options_;
    const std::vector<Heuristic *> &heuristics_;
    SearchResult &result_;
    std::vector<double> best_;
    std::vector<std::string> told_;
    double last_f_ = 0;
    std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now();
};

}  // namespace gsp
