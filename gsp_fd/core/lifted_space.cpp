#include "lifted_space.h"

#include <algorithm>

#include "growth.h"

namespace gsp {

LiftedSpace::LiftedSpace(std::shared_ptr<const LiftedTask> task, bool symmetry, bool relevant_only)
    : task_(std::move(task)), database_(*task_), axioms_(*task_) {
    if (symmetry) classes_ = std::make_unique<ObjectClasses>(*task_);
    if (relevant_only) relevance_ = std::make_unique<Relevance>(*task_);
    if (relevance_ && relevance_->is_trivial()) relevance_.reset();
    database_.set_classes(classes_.get());
    for (const GroundAtom &atom : task_->goal_positive)
        goal_positive_.push_back(database_.intern(atom.predicate, atom.args.data()));
    for (const GroundAtom &atom : task_->goal_negative)
        goal_negative_.push_back(database_.intern(atom.predicate, atom.args.data()));
    std::vector<int32_t> atoms;
    for (const GroundAtom &atom : task_->init)
        if (task_->is_stored(atom.predicate)) atoms.push_back(database_.intern(atom.predicate, atom.args.data()));
    initial_ = insert(std::move(atoms));
}

int32_t LiftedSpace::insert_sorting(std::vector<int32_t> &atoms) {
    std::sort(atoms.begin(), atoms.end());
    atoms.erase(std::unique(atoms.begin(), atoms.end()), atoms.end());
    uint64_t hash = 0;
    for (int32_t atom : atoms) hash ^= zobrist(atom);
    return register_row(atoms, hash);
}

int32_t LiftedSpace::register_row(const std::vector<int32_t> &atoms, uint64_t hash) {
    expect_growth(index_, watch_);
    if (watch_) watch_->before_growth(rows_);
    auto fresh = static_cast<int32_t>(rows_.size());
    int32_t id = index_.find_or_insert(hash, fresh, [&](int32_t other) { return is_row(other, atoms, hash); });
    if (id != fresh) return id;
    if (chunks_.empty() || chunk_used_ + atoms.size() > chunk_size_) {
        // Small at first: training keeps thousands of spaces with a few states each.
        chunk_size_ = std::max(atoms.size(), std::clamp<size_t>(2 * chunk_size_, 1 << 10, 1 << 16));
        chunks_.push_back(std::make_unique_for_overwrite<int32_t[]>(chunk_size_));
        pool_ints_ += chunk_size_;
        chunk_used_ = 0;
    }
    int32_t *place = chunks_.back().get() + chunk_used_;
    std::copy(atoms.begin(), atoms.end(), place);
    chunk_used_ += atoms.size();
    rows_.push_back({place, static_cast<uint32_t>(atoms.size()), hash});
    return id;
}

size_t LiftedSpace::state_bytes() const {
    return pool_ints_ * sizeof(int32_t) + rows_.capacity() * sizeof(Row) + index_.bytes();
}

void LiftedSpace::load(int32_t state) {
    if (state == current_) return;
    current_ = -1;
    database_.clear_fluents();
    for (int32_t atom : atoms(state)) database_.add(atom);
    if (!axioms_.empty()) axioms_.derive(database_, watch_, derived_);
    current_ = state;
}

int32_t LiftedSpace::unsatisfied_goals() {
    int32_t open = 0;
    for (int32_t atom : goal_positive_) open += !database_.holds(atom);
    for (int32_t atom : goal_negative_) open += database_.holds(atom);
    return open;
}

void LiftedSpace::applicable(std::vector<int32_t> &operators) {
    classify();
    ++lists_;
    for (size_t s = 0; s < task_->schemas.size(); ++s) {
        const Schema &schema = task_->schemas[s];
        if (schema.alternatives.empty()) add_instances(static_cast<int32_t>(s), schema, operators);
        for (const Rule &rule : schema.alternatives) add_instances(static_cast<int32_t>(s), rule, operators);
    }
}

void LiftedSpace::add_instances(int32_t schema, const Rule &rule, std::vector<int32_t> &operators) {
    const bool repeated = !task_->schemas[schema].alternatives.empty();
    const size_t count = task_->schemas[schema].parameters.size();
    int32_t tuple[1 + LiftedTask::max_parameters];
    tuple[0] = schema;
    database_.match(rule, false, [&](const int32_t *binding) {
        std::copy(binding, binding + count, tuple + 1);
        int32_t op = insert_action({tuple, count + 1});
        if (relevance_ && !matters(op)) return;
        if (repeated) {
            if (static_cast<size_t>(op) >= listed_.size()) listed_.resize(op + op / 2 + 1024, 0);
            if (std::exchange(listed_[op], lists_) == lists_) return;
        }
        operators.push_back(op);
        if (++generated_ % 1024 == 0 && watch_) watch_->throw_if_expired();
        represented_ += classes_ ? classes_->orbit_size(binding, count) : 1;
    });
}

bool LiftedSpace::matters(int32_t op) {
    if (static_cast<size_t>(op) >= matters_.size()) matters_.resize(op + op / 2 + 1024, -1);
    if (matters_[op] < 0) matters_[op] = relevance_->matters(action(op));
    return matters_[op] != 0;
}

void LiftedSpace::classify() {
    if (!classes_ || classified_ == current_) return;
    classes_->compute(atoms(current_), database_.atoms());
    classified_ = current_;
}

bool LiftedSpace::is_applicable(std::span<const int32_t> tuple) {
    const Schema &schema = task_->schemas[tuple[0]];
    if (!schema.alternatives.empty())
        return std::any_of(schema.alternatives.begin(), schema.alternatives.end(),
                           [&](const Rule &rule) { return holds_for(rule, tuple.subspan(1)); });
    int32_t args[LiftedTask::max_parameters];
    auto holds = [&](const Literal &literal) {
        for (size_t i = 0; i < literal.args.size(); ++i) args[i] = ground_term(literal.args[i], tuple.data() + 1);
        return database_.holds(literal.predicate, args);
    };
    return std::all_of(schema.positive.begin(), schema.positive.end(), holds) &&
           std::none_of(schema.negative.begin(), schema.negative.end(), holds);
}

/// Whether some instance of a rule with these first parameters has its conditions satisfied.
bool LiftedSpace::holds_for(const Rule &rule, std::span<const int32_t> args) {
    bool found = false;
    const ObjectClasses *classes = database_.set_classes(nullptr);
    database_.match_bound(rule, args, [&](const int32_t *) { found = true; });
    database_.set_classes(classes);
    return found;
}

int32_t LiftedSpace::insert_representative(std::span<const int32_t> tuple) {
    if (!classes_) return insert_action(tuple);
    classify();
    int32_t renamed[1 + LiftedTask::max_parameters];
    renamed[0] = tuple[0];
    classes_->representative(tuple.data() + 1, tuple.size() - 1, renamed + 1);
    return insert_action({renamed, tuple.size()});
}

int32_t LiftedSpace::apply(int32_t op) {
    const uint64_t hash = *find_effects(op, false);
    fill_successor();
    return register_row(buffer_, hash);
}

int32_t LiftedSpace::find_successor(int32_t op) {
    const auto hash = find_effects(op, true);
    bool filled = false;
    return !hash ? -1 : index_.find(*hash, [&](int32_t other) {
        if (rows_[other].hash != *hash) return false;
        if (!std::exchange(filled, true)) fill_successor();
        return is_row(other, buffer_, *hash);
    });
}

std::optional<uint64_t> LiftedSpace::find_effects(int32_t op, bool known_only) {
    const int32_t *tuple = actions_.args(op);
    const Schema &schema = task_->schemas[tuple[0]];
    added_.clear();
    deleted_.clear();
    bool all_known = ground_effects(schema, tuple + 1, known_only);
    if (!schema.conditional.empty()) {
        const ObjectClasses *classes = database_.set_classes(nullptr);
        for (const Rule &rule : schema.conditional)
            database_.match_bound(rule, {tuple + 1, schema.parameters.size()},
                                  [&](const int32_t *binding) { all_known &= ground_effects(rule, binding, known_only); });
        database_.set_classes(classes);
    }
    if (!all_known) return std::nullopt;
    for (auto *part : {&added_, &deleted_}) {
        std::sort(part->begin(), part->end());
        part->erase(std::unique(part->begin(), part->end()), part->end());
    }
    uint64_t hash = rows_[current_].hash;
    for (int32_t atom : added_)
        if (!database_.holds(atom)) hash ^= zobrist(atom);
    for (int32_t atom : deleted_)
        if (database_.holds(atom) && !std::binary_search(added_.begin(), added_.end(), atom)) hash ^= zobrist(atom);
    return hash;
}

void LiftedSpace::fill_successor() {
    buffer_.clear();
    size_t add = 0;
    auto put_added_before = [&](int32_t limit) {
        for (; add < added_.size() && added_[add] < limit; ++add) buffer_.push_back(added_[add]);
    };
    for (int32_t atom : atoms(current_)) {
        put_added_before(atom);
        const bool kept_by_add = add < added_.size() && added_[add] == atom;
        add += kept_by_add;
        if (kept_by_add || !std::binary_search(deleted_.begin(), deleted_.end(), atom)) buffer_.push_back(atom);
    }
    put_added_before(INT32_MAX);
}

bool LiftedSpace::ground_effects(const Rule &rule, const int32_t *binding, bool known_only) {
    int32_t args[LiftedTask::max_parameters];
    auto number = [&](const Literal &literal) {
        for (size_t i = 0; i < literal.args.size(); ++i) args[i] = ground_term(literal.args[i], binding);
        return known_only ? database_.atoms().find(literal.predicate, args, literal.args.size())
                          : database_.intern(literal.predicate, args);
    };
    for (const Literal &literal : rule.add) {
        added_.push_back(number(literal));
        if (added_.back() < 0) return false;
    }
    for (const Literal &literal : rule.del)
        if (int32_t atom = number(literal); atom >= 0) deleted_.push_back(atom);
    return true;
}

std::string LiftedSpace::operator_name(int32_t op) const { return task_->action_name(actions_.args(op), actions_.count(op)); }

}  // namespace gsp
