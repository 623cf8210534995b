#include "task_file.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <utility>

#include "network_weights.h"

namespace gsp {
namespace {

class Reader {
public:
    explicit Reader(std::string_view text) : text_(text) {}

    TaskFile read() {
        if (!next_line() || word() != "gsp-task") fail("not a task file of gsp-fd: it must start with 'gsp-task'");
        if (int32_t version = number("version"); version != TaskFile::version)
            fail("version " + std::to_string(version) + " of the format, but this program reads version " +
                 std::to_string(TaskFile::version) + ": write the file again with this version of gsp-fd");
        end_of_line();
        while (next_line()) {
            std::string_view keyword = word();
            if (keyword == "end") return finish();
            if (!read_head(keyword) && !read_schema_part(keyword) && !read_ground(keyword))
                fail("unknown keyword '" + std::string(keyword) + "'");
            end_of_line();
        }
        fail("the file ends without 'end': it was not written completely");
    }

private:
    [[noreturn]] void fail(const std::string &message) const { throw InputError(message, line_number_); }

    // ---- words of a line

    bool next_line() {
        if (text_.empty()) return false;
        size_t length = text_.find('\n');
        line_ = text_.substr(0, length);
        text_.remove_prefix(length == std::string_view::npos ? text_.size() : length + 1);
        ++line_number_;
        return true;
    }
    std::string_view word() {
        size_t length = std::min(line_.find(' '), line_.size());
        std::string_view result = line_.substr(0, length);
        line_.remove_prefix(std::min(length + 1, line_.size()));
        return result;
    }
    std::string name() {
        std::string_view result = word();
        if (result.empty()) fail("a name is missing");
        return std::string(result);
    }
    std::string rest() {
        if (line_.empty()) fail("a name is missing");
        return std::string(std::exchange(line_, {}));
    }
    int32_t number(const char *what) {
        std::string_view digits = word();
        int32_t value = 0;
        auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (digits.empty() || error != std::errc() || stop != digits.data() + digits.size())
            fail(std::string("'").append(digits) + "' is no number (" + what + ")");
        return value;
    }
    int32_t index(const char *what, size_t count) {
        int32_t value = number(what);
        if (value < 0 || static_cast<size_t>(value) >= count)
            fail("there is no " + std::string(what) + " " + std::to_string(value) + "; the file has " + std::to_string(count) +
                 " before this line");
        return value;
    }
    /// A number below `limit`.
    int32_t small(const char *what, int32_t limit) {
        int32_t value = number(what);
        if (value < 0 || value >= limit) fail("the " + std::string(what) + " must be from 0 to " + std::to_string(limit - 1));
        return value;
    }
    int32_t arity() { return small("arity", LiftedTask::max_parameters); }
    bool flag() { return small("flag", 2) == 1; }
    int32_t object() { return index("object", task_.objects.size()); }
    void end_of_line() const {
        if (!line_.empty()) fail("'" + std::string(line_) + "' is too much in this line");
    }

    // ---- lines

    bool read_head(std::string_view keyword) {
        if (keyword == "model") {
            file_.model = rest();
        } else if (keyword == "metric") {
            task_.metric = flag();
        } else if (keyword == "object") {
            task_.objects.push_back(name());
        } else if (keyword == "type") {
            auto &members = task_.type_members.emplace_back();
            while (!line_.empty()) members.push_back(object());
        } else if (keyword == "predicate") {
            task_.predicates.push_back(name());
            task_.arities.push_back(arity());
            task_.fluent.push_back(flag());
        } else if (keyword == "function") {
            function_arities_.push_back(arity());
            task_.function_values.emplace_back();
        } else if (keyword == "value") {
            int32_t function = index("function", function_arities_.size());
            int32_t value = number("value");
            task_.function_values[function].emplace_back(objects(function_arities_[function]), value);
        } else if (keyword == "network") {
            shape_.d = number("width");
            shape_.layers = number("layers");
            shape_.pool = name();
        } else if (keyword == "relation") {
            read_relation();
        } else if (keyword == "weights") {
            read_weights();
        } else {
            return false;
        }
        return true;
    }

    bool read_schema_part(std::string_view keyword) {
        if (keyword == "schema") {
            Schema &schema = task_.schemas.emplace_back();
            schema.name = name();
            schema.cost = number("cost");
            start_rule(schema);
            return true;
        }
        if (keyword == "alternative" || keyword == "effect") {
            start_rule((keyword == "effect" ? schema().conditional : schema().alternatives).emplace_back());
            return true;
        }
        if (keyword == "axiom") {
            size_t stratum = index("stratum", task_.axioms.size() + 1);
            if (stratum == task_.axioms.size()) task_.axioms.emplace_back();
            start_rule(task_.axioms[stratum].emplace_back());
            return true;
        }
        if (keyword == "cost") {
            rule_ = &schema();
            schema().cost_terms.push_back(literal("function", function_arities_));
            return true;
        }
        static constexpr std::pair<std::string_view, std::vector<Literal> Rule::*> literals[] = {
            {"positive", &Rule::positive}, {"negative", &Rule::negative}, {"add", &Rule::add}, {"delete", &Rule::del}};
        for (auto [known, part] : literals)
            if (keyword == known) {
                (rule().*part).push_back(literal("predicate", task_.arities));
                return true;
            }
        if (keyword != "equal" && keyword != "unequal") return false;
        int32_t left = term(), right = term();
        (keyword == "equal" ? rule().equal : rule().unequal).emplace_back(left, right);
        return true;
    }
    /// The lines that follow belong to this rule; the rest of this one are the types of its parameters.
    void start_rule(Rule &rule) {
        rule_ = &rule;
        while (!line_.empty()) rule.parameters.push_back(index("type", task_.type_members.size()));
    }
    Literal literal(const char *what, const std::vector<int32_t> &arities) {
        Literal literal{index(what, arities.size()), {}};
        for (int32_t i = 0; i < arities[literal.predicate]; ++i) literal.args.push_back(term());
        return literal;
    }

    bool read_ground(std::string_view keyword) {
        static constexpr std::pair<std::string_view, std::vector<GroundAtom> LiftedTask::*> atoms[] = {
            {"init", &LiftedTask::init}, {"goal", &LiftedTask::goal_positive}, {"not_goal", &LiftedTask::goal_negative}};
        for (auto [known, part] : atoms)
            if (keyword == known) {
                int32_t predicate = index("predicate", task_.predicates.size());
                (task_.*part).push_back({predicate, objects(task_.arities[predicate])});
                return true;
            }
        return false;
    }

    /// `relation KIND SYMBOL COLUMNS HIDDEN NAME`; the columns must be those that the encoder writes.
    void read_relation() {
        RelationSpec spec{};
        try {
            spec.kind = relation_kind_from(std::string(word()));
        } catch (const InputError &error) {
            fail(error.what());
        }
        spec.symbol = number("symbol");
        spec.arity = number("columns");
        if (spec.symbol < -1 || spec.arity < 1) fail("a relation needs a symbol of at least -1 and at least one column");
        if (spec.symbol >= 0 && columns(spec.kind, static_cast<size_t>(spec.symbol)) != spec.arity)
            fail("the relation has " + std::to_string(spec.arity) + " columns, which is not what its symbol has");
        file_.relations.push_back(spec);
        int32_t hidden = number("hidden units");
        shape_.relations.push_back({name(), spec.arity, hidden});
    }
    /// `weights NAME HEX`: eight digits for the bits of each float.
    void read_weights() {
        constexpr size_t digits = 8;
        std::string array = name();
        if (line_.size() % digits) fail("the weights " + array + " have not eight digits each");
        std::vector<float> &values = arrays_[array];
        if (!values.empty()) fail("the weights " + array + " stand here twice");
        for (; !line_.empty(); line_.remove_prefix(digits)) {
            uint32_t bits = 0;
            auto [stop, error] = std::from_chars(line_.data(), line_.data() + digits, bits, 16);
            values.push_back(std::bit_cast<float>(bits));
            if (error != std::errc() || stop != line_.data() + digits || !std::isfinite(values.back()))
                fail("the weights " + array + " are not all numbers: the model or this file is damaged");
        }
    }
    int32_t columns(RelationKind kind, size_t symbol) const {
        switch (kind) {
        case RelationKind::type: return symbol < task_.type_members.size() ? 1 : 0;
        case RelationKind::constant: return symbol < task_.objects.size() ? 1 : 0;
        case RelationKind::action:
        case RelationKind::plan:
            return symbol < task_.schemas.size() ? 1 + static_cast<int32_t>(task_.schemas[symbol].parameters.size()) : 0;
        default: return symbol < task_.arities.size() ? std::max(1, task_.arities[symbol]) : 0;
        }
    }

    Schema &schema() {
        if (task_.schemas.empty()) fail("this line belongs to a schema, but there is none before it");
        return task_.schemas.back();
    }
    Rule &rule() {
        if (!rule_) fail("this line belongs to a schema or an axiom, but there is none before it");
        return *rule_;
    }
    int32_t term() {
        int32_t value = number("term");
        auto parameters = static_cast<int64_t>(rule().parameters.size());
        if (value >= parameters || -int64_t{value} > static_cast<int64_t>(task_.objects.size()))
            fail("term " + std::to_string(value) + " is neither a parameter nor an object");
        return value;
    }
    std::vector<int32_t> objects(int32_t count) {
        std::vector<int32_t> out(count);
        for (int32_t &o : out) o = object();
        return out;
    }

    TaskFile finish() {
        end_of_line();
        if (file_.model.empty() || shape_.pool.empty() || task_.objects.empty() || task_.type_members.empty() ||
            file_.relations.empty())
            fail("the file has no model, no network, no objects, no types or no relations");
        try {
            file_.weights = weights_from(shape_, {arrays_.begin(), arrays_.end()});
        } catch (const InputError &error) {
            fail(error.what());
        }
        task_.finish();
        return std::move(file_);
    }

    std::string_view text_, line_;
    long line_number_ = 0;
    TaskFile file_;
    LiftedTask &task_ = *file_.task;
    Rule *rule_ = nullptr;  // the one that the lines belong to
    std::vector<int32_t> function_arities_;
    NetworkShape shape_;
    std::map<std::string, std::vector<float>> arrays_;
};

}  // namespace

TaskFile TaskFile::read(std::string_view text) { return Reader(text).read(); }

}  // namespace gsp
