// Mutex groups. Candidates come from a lifted balance argument in the manner of Helmert (2009), which may be too optimistic
// about parameters that stand for the same object; every ground group is then checked against every ground action, so what is
// returned holds.
#include <algorithm>
#include <map>
#include <set>

#include "grounder.h"

namespace gsp {
namespace {

constexpr int32_t counted = -1;
constexpr size_t max_candidates = 1000;

/// One predicate of a candidate: which parameter of the candidate stands at each argument, or `counted` (at most once).
struct Part {
    int32_t predicate;
    std::vector<int32_t> roles;
    auto operator<=>(const Part &) const = default;
};

using Candidate = std::vector<Part>;  // sorted

bool same(const Literal &a, const Literal &b) { return a.predicate == b.predicate && a.args == b.args; }

/// The terms that a literal gives to the parameters of a part.
std::vector<int32_t> parameters_of(const Part &part, const Literal &literal, size_t count) {
    std::vector<int32_t> terms(count);
    for (size_t i = 0; i < part.roles.size(); ++i)
        if (part.roles[i] != counted) terms[part.roles[i]] = literal.args[i];
    return terms;
}

class Synthesis {
public:
    explicit Synthesis(const LiftedTask &task) : task_(task), may_be_in_group_(task.predicates.size()) {
        for (size_t p = 0; p < task.predicates.size(); ++p) may_be_in_group_[p] = task.is_stored(static_cast<int32_t>(p));
        // What a conditional effect adds is balanced by nothing that could be told here.
        for (const Schema &schema : task.schemas)
            for (const Rule &effect : schema.conditional)
                for (const Literal &literal : effect.add) may_be_in_group_[literal.predicate] = 0;
    }

    std::vector<Candidate> run() {
        for (size_t p = 0; p < task_.predicates.size(); ++p) {
            if (!may_be_in_group_[p]) continue;
            int32_t arity = task_.arities[p];
            for (int32_t c = -1; c < arity; ++c) {
                Part part{static_cast<int32_t>(p), {}};
                int32_t next = 0;
                for (int32_t i = 0; i < arity; ++i) part.roles.push_back(i == c ? counted : next++);
                enqueue({part});
            }
        }
        std::vector<Candidate> accepted;
        for (size_t i = 0; i < queue_.size(); ++i) {
            Candidate candidate = queue_[i];
            if (check(candidate)) accepted.push_back(candidate);
        }
        return accepted;
    }

private:
    void enqueue(Candidate candidate) {
        std::sort(candidate.begin(), candidate.end());
        if (queue_.size() < max_candidates && seen_.insert(candidate).second) queue_.push_back(std::move(candidate));
    }
    static size_t num_parameters(const Candidate &candidate) {
        return candidate[0].roles.size() -
               std::count(candidate[0].roles.begin(), candidate[0].roles.end(), counted);
    }

    /// True if no schema breaks the candidate; otherwise its refinements against the first one that does are enqueued.
    bool check(const Candidate &candidate) {
        size_t parameters = num_parameters(candidate);
        for (const Schema &schema : task_.schemas)
            for (const Literal &add : schema.add)
                for (const Part &part : candidate) {
                    if (part.predicate != add.predicate) continue;
                    auto terms = parameters_of(part, add, parameters);
                    if (too_heavy(candidate, schema, add, terms)) return false;
                    if (balanced(candidate, schema, add, terms)) continue;
                    refine(candidate, schema, add, terms);
                    return false;
                }
        return true;
    }
    bool too_heavy(const Candidate &candidate, const Schema &schema, const Literal &add,
                   const std::vector<int32_t> &terms) const {
        for (const Literal &other : schema.add) {
            if (same(other, add)) continue;
            for (const Part &part : candidate)
                if (part.predicate == other.predicate && parameters_of(part, other, terms.size()) == terms) return true;
        }
        return false;
    }
    static bool is_precondition(const Schema &schema, const Literal &literal) {
        return std::any_of(schema.positive.begin(), schema.positive.end(),
                           [&](const Literal &pre) { return same(pre, literal); });
    }
    bool balanced(const Candidate &candidate, const Schema &schema, const Literal &add,
                  const std::vector<int32_t> &terms) const {
        if (is_precondition(schema, add)) return true;
        for (const Literal &del : schema.del) {
            if (same(del, add) || !is_precondition(schema, del)) continue;
            for (const Part &part : candidate)
                if (part.predicate == del.predicate && parameters_of(part, del, terms.size()) == terms) return true;
        }
        return false;
    }
    /// Adds a part that covers a delete effect of the schema with the same parameters.
    void refine(const Candidate &candidate, const Schema &schema, const Literal &add, const std::vector<int32_t> &terms) {
        for (const Literal &del : schema.del) {
            if (same(del, add) || !is_precondition(schema, del) || !may_be_in_group_[del.predicate]) continue;
            if (std::any_of(candidate.begin(), candidate.end(),
                            [&](const Part &part) { return part.predicate == del.predicate; }))
                continue;
            Part part{del.predicate, {}};
            extend(candidate, del, terms, part);
        }
    }
    void extend(const Candidate &candidate, const Literal &del, const std::vector<int32_t> &terms, Part &part) {
        size_t position = part.roles.size();
        if (position == del.args.size()) {
            for (size_t p = 0; p < terms.size(); ++p)
                if (std::count(part.roles.begin(), part.roles.end(), static_cast<int32_t>(p)) != 1) return;
            Candidate refined = candidate;
            refined.push_back(part);
            enqueue(std::move(refined));
            return;
        }
        for (size_t p = 0; p < terms.size(); ++p) {
            if (terms[p] != del.args[position]) continue;
            part.roles.push_back(static_cast<int32_t>(p));
            extend(candidate, del, terms, part);
            part.roles.pop_back();
        }
        if (std::find(part.roles.begin(), part.roles.end(), counted) == part.roles.end()) {
            part.roles.push_back(counted);
            extend(candidate, del, terms, part);
            part.roles.pop_back();
        }
    }

    const LiftedTask &task_;
    std::vector<char> may_be_in_group_;  // by predicate
    std::vector<Candidate> queue_;
    std::set<Candidate> seen_;
};

/// Marks the groups that some action may break.
void check_groups(const Grounding &grounding, const std::vector<std::vector<int32_t>> &groups_of, std::vector<char> &broken,
                  Watch &watch) {
    std::vector<int32_t> added(broken.size(), 0), freed(broken.size(), 0), required(broken.size(), 0);
    std::vector<int32_t> touched;
    for (size_t i = 0; i < grounding.num_actions(); ++i) {
        watch.throw_if_expired();
        GroundAction action = grounding.action(i);
        auto is = [](std::span<const int32_t> sorted, int32_t a) {
            return std::binary_search(sorted.begin(), sorted.end(), a);
        };
        touched.clear();
        for (int32_t a : action.add)
            if (!is(action.pre, a))
                for (int32_t g : groups_of[a]) ++added[g], touched.push_back(g);
        for (int32_t a : action.pre) {
            bool gone = is(action.del, a);
            for (int32_t g : groups_of[a]) required[g] += 1, freed[g] += gone, touched.push_back(g);
        }
        for (int32_t g : touched) {
            // An action that requires two atoms of a group is never applicable while the group holds.
            if (added[g] > 0 && required[g] <= 1 && (added[g] > 1 || freed[g] == 0)) broken[g] = 1;
        }
        for (int32_t g : touched) added[g] = freed[g] = required[g] = 0;
    }
}

}  // namespace

std::vector<std::vector<int32_t>> mutex_groups(const LiftedTask &task, const Grounding &grounding, Watch &watch) {
    std::vector<Candidate> candidates = Synthesis(task).run();
    std::map<std::vector<int32_t>, int32_t> number;  // (candidate, parameters...)
    std::vector<std::vector<int32_t>> groups;
    std::vector<std::vector<std::pair<int32_t, const Part *>>> parts(task.predicates.size());
    for (size_t c = 0; c < candidates.size(); ++c)
        for (const Part &part : candidates[c]) parts[part.predicate].emplace_back(static_cast<int32_t>(c), &part);
    std::vector<int32_t> key;
    for (size_t a = 0; a < grounding.atoms.size(); ++a) {
        watch.throw_if_expired();
        const GroundAtom &atom = grounding.atoms[a];
        for (auto [c, part] : parts[atom.predicate]) {
            key.assign(1 + atom.args.size() - std::count(part->roles.begin(), part->roles.end(), counted), c);
            for (size_t i = 0; i < atom.args.size(); ++i)
                if (part->roles[i] != counted) key[1 + part->roles[i]] = atom.args[i];
            auto [it, fresh] = number.emplace(key, static_cast<int32_t>(groups.size()));
            if (fresh) groups.emplace_back();
            groups[it->second].push_back(static_cast<int32_t>(a));
        }
    }
    std::vector<std::vector<int32_t>> groups_of(grounding.atoms.size());
    for (size_t g = 0; g < groups.size(); ++g)
        for (int32_t a : groups[g]) groups_of[a].push_back(static_cast<int32_t>(g));
    std::vector<char> broken(groups.size(), 0);
    check_groups(grounding, groups_of, broken, watch);
    std::vector<int32_t> initially(groups.size(), 0);
    for (int32_t a : grounding.init)
        for (int32_t g : groups_of[a]) ++initially[g];
    std::set<std::vector<int32_t>> distinct;
    for (size_t g = 0; g < groups.size(); ++g)
        if (!broken[g] && initially[g] == 1 && groups[g].size() > 1) {
            std::sort(groups[g].begin(), groups[g].end());
            distinct.insert(groups[g]);
        }
    return {distinct.begin(), distinct.end()};
}

}  // namespace gsp
