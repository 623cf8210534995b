// gsp(...): the learned heuristic of gsp-fd as an evaluator of Fast Downward. README.md says how to build it in.
#pragma once

#include "heuristic.h"
#include "state_values.h"

namespace gsp_heuristic {

class GspHeuristic : public Heuristic {
public:
    GspHeuristic(const std::shared_ptr<AbstractTask> &task, const std::string &model, const std::string &domain,
                 const std::string &problem, const std::string &task_file, int scale, int cache_mb, bool parent_q,
                 bool cache_estimates, const std::string &description, utils::Verbosity verbosity);

    bool dead_ends_are_reliable() const override { return false; }
    /// The search tells which state is expanded, so that all its successors are evaluated in one call of the network.
    void get_path_dependent_evaluators(std::set<Evaluator *> &evals) override { evals.insert(this); }
    void notify_initial_state(const State &initial_state) override;
    void notify_state_transition(const State &parent_state, OperatorID op_id, const State &state) override;

protected:
    int compute_heuristic(const State &ancestor_state) override;

private:
    void number_atoms();
    /// The lifted state: true atoms, and initial atoms that no variable mentions. Valid until the next call.
    const std::vector<int32_t> &atoms(const State &ancestor_state);
    void warn_of_strangers();

    std::unique_ptr<StateValues> values_;
    std::vector<int32_t> atom_of_fact_;  // -1: no atom of the lifted task
    std::vector<size_t> first_fact_;     // by variable
    std::vector<int32_t> constant_atoms_, atoms_;
    StateID parent_ = StateID::no_state;
    int scale_;
    bool warned_ = false;
};

}  // namespace gsp_heuristic
