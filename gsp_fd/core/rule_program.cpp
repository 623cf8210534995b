#include "rule_program.h"

#include <numeric>

namespace gsp {

RuleProgram::RuleProgram(const LiftedTask &task) : task_(task) {
    if (!task.strips) {
        compile();
        return;
    }
    for (size_t s = 0; s < task.schemas.size(); ++s)
        origins_.push_back({RuleSource::action, static_cast<int32_t>(s), &task.schemas[s]});
}

void RuleProgram::compile() {
    compiled_ = std::make_unique<LiftedTask>();
    compiled_->objects = task_.objects;
    compiled_->type_members = task_.type_members;
    compiled_->predicates = task_.predicates;
    compiled_->arities = task_.arities;
    compiled_->fluent = task_.fluent;
    compiled_->init = task_.init;
    for (size_t s = 0; s < task_.schemas.size(); ++s) {
        const Schema &schema = task_.schemas[s];
        auto number = static_cast<int32_t>(s);
        std::vector<Literal> adds = schema.add;
        if (!schema.conditional.empty()) {
            Literal reached{static_cast<int32_t>(compiled_->predicates.size()), std::vector<int32_t>(schema.parameters.size())};
            std::iota(reached.args.begin(), reached.args.end(), 0);
            compiled_->predicates.push_back("@reached-" + schema.name);
            compiled_->arities.push_back(static_cast<int32_t>(schema.parameters.size()));
            compiled_->fluent.push_back(1);
            adds.push_back(reached);
            for (const Rule &effect : schema.conditional) {
                Rule rule = effect;
                rule.positive.push_back(reached);
                add({RuleSource::effect, number, &effect}, std::move(rule));
            }
        }
        auto add_action = [&](const Rule &conditions) {
            Rule rule = conditions;
            rule.add = adds;
            add({RuleSource::action, number, &conditions}, std::move(rule));
        };
        if (schema.alternatives.empty()) add_action(schema);
        for (const Rule &alternative : schema.alternatives) add_action(alternative);
    }
    for (const auto &stratum : task_.axioms)
        for (const Rule &axiom : stratum) add({RuleSource::axiom, -1, &axiom}, axiom);
    compiled_->finish();
}

void RuleProgram::add(const RuleSource &origin, Rule rule) {
    Schema &schema = compiled_->schemas.emplace_back();
    static_cast<Rule &>(schema) = std::move(rule);
    schema.name = origin.schema < 0 ? "an axiom" : task_.schemas[origin.schema].name;
    origins_.push_back(origin);
}

}  // namespace gsp
