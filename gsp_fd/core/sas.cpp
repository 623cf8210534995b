// SAS version 3: the reader checks every index, so that no file can make the core touch memory that is not there.
#include <algorithm>
#include <charconv>
#include <set>

#include "ground_task.h"

namespace gsp {
namespace {

class Reader {
public:
    explicit Reader(std::string_view text) : text_(text) {}

    [[noreturn]] void fail(const std::string &message) const { throw InputError(message, line_); }

    /// The next line without its end.
    std::string_view line() {
        if (position_ >= text_.size()) {
            ++line_;
            fail("the file ends too early");
        }
        size_t end = text_.find('\n', position_);
        if (end == std::string_view::npos) end = text_.size();
        std::string_view result = text_.substr(position_, end - position_);
        if (!result.empty() && result.back() == '\r') result.remove_suffix(1);
        position_ = end + 1;
        ++line_;
        rest_ = {};
        return result;
    }
    void expect(std::string_view magic) {
        std::string_view found = line();
        if (found != magic)
            fail("expected '" + std::string(magic) + "', found '" + std::string(found.substr(0, 40)) + "'");
    }
    /// The next number of the current line; a new line is begun if the current one is used up.
    int32_t number(const char *what, int64_t low, int64_t high) {
        skip_blanks();
        if (rest_.empty()) {
            rest_ = line();
            skip_blanks();
        }
        int64_t value = 0;
        auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        if (error != std::errc() || (end != rest_.data() + rest_.size() && *end != ' ' && *end != '\t'))
            fail(std::string("expected ") + what + ", found '" + std::string(rest_.substr(0, 40)) + "'");
        rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
        if (value < low || value > high)
            fail(std::string(what) + " " + std::to_string(value) + " is outside " + std::to_string(low) + ".." +
                 std::to_string(high));
        return static_cast<int32_t>(value);
    }
    void end_of_line() {
        skip_blanks();
        if (!rest_.empty()) fail("unexpected '" + std::string(rest_.substr(0, 40)) + "' at the end of the line");
        rest_ = {};
    }
    /// A count of things that each take at least `bytes` of the rest of the file: a lie is found before memory is asked for.
    int32_t count(const char *what, size_t bytes = 2) {
        int64_t most = static_cast<int64_t>((text_.size() - std::min(position_, text_.size())) / bytes + 1);
        int32_t value = number(what, 0, INT32_MAX);
        if (value > most) fail(std::string(what) + " " + std::to_string(value) + " is more than the file can hold");
        return value;
    }
    bool at_end() {
        while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[position_]))) ++position_;
        return position_ >= text_.size();
    }
    long line_number() const { return line_; }

private:
    void skip_blanks() {
        while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) rest_.remove_prefix(1);
    }
    std::string_view text_, rest_;
    size_t position_ = 0;
    long line_ = 0;
};

class SasParser {
public:
    SasParser(std::string_view text, GroundTask &task) : in_(text), task_(task) {}

    void parse() {
        read_header();
        read_variables();
        read_mutex_groups();
        read_state();
        read_goal();
        read_operators();
        read_axioms();
        if (!in_.at_end()) {
            in_.line();
            in_.fail("text after the end of the task");
        }
    }

private:
    Fact fact() {
        int32_t variable = in_.number("variable", 0, static_cast<int64_t>(task_.variables.size()) - 1);
        int32_t value = in_.number("value", 0, task_.variables[variable].size() - 1);
        return {variable, value};
    }
    std::vector<Fact> facts(const char *what) {
        int32_t n = in_.count(what);
        in_.end_of_line();
        std::vector<Fact> out;
        for (int32_t i = 0; i < n; ++i) {
            out.push_back(fact());
            in_.end_of_line();
        }
        return out;
    }
    void read_header() {
        in_.expect("begin_version");
        int32_t version = in_.number("SAS version", 0, INT32_MAX);
        if (version != 3) in_.fail("SAS version " + std::to_string(version) + " is not supported, only version 3 is");
        in_.expect("end_version");
        in_.expect("begin_metric");
        task_.metric = in_.number("metric", 0, 1) != 0;
        in_.expect("end_metric");
    }
    /// The translator leaves gaps where it drops variables, so there may be more layers than derived variables.
    static constexpr int32_t max_layer = 100'000;
    void read_variables() {
        int32_t n = in_.count("number of variables", 10);
        for (int32_t i = 0; i < n; ++i) {
            Variable variable;
            in_.expect("begin_variable");
            variable.name = in_.line();
            variable.axiom_layer = in_.number("axiom layer", -1, max_layer);
            int32_t size = in_.count("number of values", 1);
            if (size < 1) in_.fail("a variable needs at least one value");
            if (variable.axiom_layer >= 0 && size != 2) in_.fail("a derived variable needs two values");
            for (int32_t k = 0; k < size; ++k) variable.value_names.emplace_back(in_.line());
            in_.expect("end_variable");
            task_.variables.push_back(std::move(variable));
        }
    }
    void read_mutex_groups() {
        int32_t n = in_.count("number of mutex groups", 10);
        for (int32_t i = 0; i < n; ++i) {
            in_.expect("begin_mutex_group");
            task_.mutex_groups.push_back(facts("number of facts"));
            in_.expect("end_mutex_group");
        }
    }
    void read_state() {
        in_.expect("begin_state");
        for (const Variable &variable : task_.variables)
            task_.initial.push_back(in_.number("initial value", 0, variable.size() - 1));
        in_.expect("end_state");
    }
    void read_goal() {
        in_.expect("begin_goal");
        task_.goal = facts("number of goals");
        std::sort(task_.goal.begin(), task_.goal.end());
        reject_two_values(task_.goal, "the goal");
        in_.expect("end_goal");
    }
    void reject_two_values(const std::vector<Fact> &sorted, const char *where) {
        for (size_t i = 1; i < sorted.size(); ++i)
            if (sorted[i].variable == sorted[i - 1].variable && sorted[i].value != sorted[i - 1].value)
                in_.fail(std::string(where) + " requires two values of variable " + std::to_string(sorted[i].variable));
    }
    void read_operators() {
        int32_t n = in_.count("number of operators", 10);
        task_.operators.reserve(n);
        for (int32_t i = 0; i < n; ++i) read_operator();
    }
    void read_operator() {
        in_.expect("begin_operator");
        task_.add_name(in_.line());
        Operator op;
        op.preconditions = facts("number of prevail conditions");
        int32_t effects = in_.count("number of effects");
        in_.end_of_line();
        for (int32_t e = 0; e < effects; ++e) {
            Effect effect;
            int32_t conditions = in_.count("number of effect conditions");
            for (int32_t c = 0; c < conditions; ++c) effect.conditions.push_back(fact());
            int32_t variable = in_.number("variable", 0, static_cast<int64_t>(task_.variables.size()) - 1);
            if (task_.variables[variable].axiom_layer >= 0) in_.fail("an operator sets a derived variable");
            int32_t before = in_.number("value before", -1, task_.variables[variable].size() - 1);
            int32_t after = in_.number("value after", 0, task_.variables[variable].size() - 1);
            in_.end_of_line();
            if (before >= 0) op.preconditions.push_back({variable, before});
            effect.fact = {variable, after};
            op.effects.push_back(std::move(effect));
        }
        int32_t cost = in_.number("operator cost", 0, INT32_MAX);
        op.cost = task_.metric ? cost : 1;
        in_.end_of_line();
        in_.expect("end_operator");
        std::sort(op.preconditions.begin(), op.preconditions.end());
        reject_two_values(op.preconditions, "an operator");
        op.preconditions.erase(std::unique(op.preconditions.begin(), op.preconditions.end()), op.preconditions.end());
        task_.operators.push_back(std::move(op));
    }
    void read_axioms() {
        int32_t n = in_.count("number of axioms", 10);
        for (int32_t i = 0; i < n; ++i) {
            Axiom axiom;
            in_.expect("begin_rule");
            axiom.conditions = facts("number of conditions");
            int32_t variable = in_.number("variable", 0, static_cast<int64_t>(task_.variables.size()) - 1);
            const Variable &head = task_.variables[variable];
            if (head.axiom_layer < 0) in_.fail("an axiom sets a variable that is not derived");
            int32_t before = in_.number("value before", 0, head.size() - 1);
            int32_t after = in_.number("value after", 0, head.size() - 1);
            in_.end_of_line();
            if (before != task_.initial[variable] || before == after)
                in_.fail("an axiom must lead away from the default value of its variable");
            check_layers(axiom, head.axiom_layer);
            axiom.effect = {variable, after};
            in_.expect("end_rule");
            task_.axioms.push_back(std::move(axiom));
        }
    }
    /// Stratification: a default value may be asked for only of a lower layer, any value of the same or a lower one.
    void check_layers(const Axiom &axiom, int32_t layer) {
        for (const Fact &fact : axiom.conditions) {
            int32_t other = task_.variables[fact.variable].axiom_layer;
            bool negated = other >= 0 && fact.value == task_.initial[fact.variable];
            if (other > layer || (negated && other == layer))
                in_.fail("an axiom of layer " + std::to_string(layer) + " depends on layer " + std::to_string(other));
        }
    }

    Reader in_;
    GroundTask &task_;
};

void append(std::string &out, const Fact &fact) {
    out += std::to_string(fact.variable) + " " + std::to_string(fact.value) + "\n";
}

void append(std::string &out, const std::vector<Fact> &facts) {
    out += std::to_string(facts.size()) + "\n";
    for (const Fact &fact : facts) append(out, fact);
}

void append_operator(std::string &out, const GroundTask &task, size_t index) {
    const Operator &op = task.operators[index];
    std::vector<Fact> prevail;
    auto before = [&](int32_t variable) {
        for (const Fact &fact : op.preconditions)
            if (fact.variable == variable) return fact.value;
        return -1;
    };
    for (const Fact &fact : op.preconditions)
        if (std::none_of(op.effects.begin(), op.effects.end(),
                         [&](const Effect &e) { return e.fact.variable == fact.variable; }))
            prevail.push_back(fact);
    out += "begin_operator\n";
    out += task.operator_name(index);
    out += "\n";
    append(out, prevail);
    out += std::to_string(op.effects.size()) + "\n";
    for (const Effect &effect : op.effects) {
        out += std::to_string(effect.conditions.size());
        for (const Fact &fact : effect.conditions)
            out += " " + std::to_string(fact.variable) + " " + std::to_string(fact.value);
        out += " " + std::to_string(effect.fact.variable) + " " + std::to_string(before(effect.fact.variable)) + " " +
               std::to_string(effect.fact.value) + "\n";
    }
    out += std::to_string(op.cost) + "\nend_operator\n";
}

}  // namespace

std::shared_ptr<GroundTask> GroundTask::from_sas(std::string_view text) {
    auto task = std::make_shared<GroundTask>();
    SasParser(text, *task).parse();
    task->finish();
    return task;
}

std::string GroundTask::to_sas() const {
    std::string out = "begin_version\n3\nend_version\nbegin_metric\n";
    out += metric ? "1\n" : "0\n";
    out += "end_metric\n" + std::to_string(variables.size()) + "\n";
    for (const Variable &variable : variables) {
        out += "begin_variable\n" + variable.name + "\n" + std::to_string(variable.axiom_layer) + "\n" +
               std::to_string(variable.size()) + "\n";
        for (const std::string &name : variable.value_names) out += name + "\n";
        out += "end_variable\n";
    }
    out += std::to_string(mutex_groups.size()) + "\n";
    for (const auto &group : mutex_groups) {
        out += "begin_mutex_group\n";
        append(out, group);
        out += "end_mutex_group\n";
    }
    out += "begin_state\n";
    for (int32_t value : initial) out += std::to_string(value) + "\n";
    out += "end_state\nbegin_goal\n";
    append(out, goal);
    out += "end_goal\n" + std::to_string(operators.size()) + "\n";
    for (size_t i = 0; i < operators.size(); ++i) append_operator(out, *this, i);
    out += std::to_string(axioms.size()) + "\n";
    for (const Axiom &axiom : axioms) {
        out += "begin_rule\n";
        append(out, axiom.conditions);
        out += std::to_string(axiom.effect.variable) + " " + std::to_string(initial[axiom.effect.variable]) + " " +
               std::to_string(axiom.effect.value) + "\nend_rule\n";
    }
    return out;
}

}  // namespace gsp
