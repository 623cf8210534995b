// The delete relaxation of a lifted task as rules over few parameters, in the manner of the Datalog programs of Helmert (2009):
// one chain of rules per effect of a schema. A rule joins some of the preconditions and forgets the parameters that nobody
// else asks for, so that the number of instances is that of the largest join and not that of the actions.
#pragma once

#include "lifted_task.h"

namespace gsp {

/// Where a rule comes from: a schema, and the parameter of it that each parameter of the rule is.
struct RuleOrigin {
    int32_t schema;
    std::vector<int32_t> parameters;
    bool final;  // derives an effect of the schema, at its cost; otherwise an auxiliary atom, for nothing
};

/// The rules are the schemas of `program`, with one add effect each. Its predicates are those of the task, then their
/// negations (for negative conditions), then the auxiliary ones.
struct SplitTask {
    LiftedTask program;
    std::vector<RuleOrigin> origins;
    std::vector<char> never_deleted;     // per predicate of the task
    std::vector<char> static_auxiliary;  // per auxiliary predicate: whether its atoms depend on no fluent atom

    int32_t num_predicates() const { return static_cast<int32_t>(never_deleted.size()); }
    int32_t negation(int32_t predicate) const { return num_predicates() + predicate; }
    bool is_auxiliary(int32_t predicate) const { return predicate >= 2 * num_predicates(); }
    bool is_static(int32_t predicate) const { return is_auxiliary(predicate) && static_auxiliary[predicate - 2 * num_predicates()]; }
};

/// Rules for every effect that can matter: values of hmax and hadd are those of the actions, except that an action which
/// deletes what it adds may make the negation true. With `real_costs` the costs of actions are those of the task.
SplitTask split_schemas(const LiftedTask &task);

}  // namespace gsp
