// Everything of a lifted task that makes atoms true, as rules with conjunctive conditions: one per alternative of a schema, one
// per conditional effect, one per axiom. The relaxed reachability of these rules is what is grounded.
#pragma once

#include "lifted_task.h"

namespace gsp {

struct RuleSource {
    enum Kind { action, effect, axiom } kind;
    int32_t schema;    // -1 for an axiom
    const Rule *rule;  // of the task: an alternative or the schema itself, an effect or an axiom
};

/// For a STRIPS task, the schemas themselves.
class RuleProgram {
public:
    explicit RuleProgram(const LiftedTask &task);
    /// Its schemas are the rules, in the order of `origins`. An effect needs an atom that says that its action is reached.
    const LiftedTask &task() const { return compiled_ ? *compiled_ : task_; }
    const RuleSource &origin(size_t rule) const { return origins_[rule]; }

private:
    void compile();
    void add(const RuleSource &origin, Rule rule);

    const LiftedTask &task_;
    std::unique_ptr<LiftedTask> compiled_;
    std::vector<RuleSource> origins_;
};

}  // namespace gsp
