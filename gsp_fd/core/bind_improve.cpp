// The improvement of plans in Python.
#include "bindings.h"

#include "plan_improver.h"

namespace gsp {

void bind_improve(nb::module_ &m) {
    m.def("improve_plan", [](std::variant<std::shared_ptr<const GroundTask>, std::shared_ptr<const LiftedTask>> task,
                             std::vector<std::string> plan, nb::object found, std::optional<double> max_time,
                             std::optional<size_t> max_memory_kb, size_t max_states, uint64_t random_seed) {
        ImproveOptions options{random_seed, max_states, [found](const PlanReport &report) {
            nb::gil_scoped_acquire gil;
            nb::list actions;
            for (const std::string &name : report.actions) actions.append(to_str(name));
            found(report.method, actions, report.costs, report.seconds);
        }};
        Watch watch = make_watch(max_time, max_memory_kb);
        nb::gil_scoped_release release;
        auto planned = std::visit([](auto &source) { return make_plan_task(std::move(source)); }, task);
        switch (improve_plan(*planned, plan, options, watch)) {
        case Stop::none: return "done";
        case Stop::time: return "time";
        case Stop::memory: return "memory";
        case Stop::interrupted: return "interrupted";
        }
        return "";
    }, "task"_a, "plan"_a, "found"_a, nb::kw_only(), "max_time"_a = nb::none(), "max_memory_kb"_a = nb::none(),
          "max_states"_a = ImproveOptions{}.max_states, "random_seed"_a = 0,
          "Calls found(method, actions, costs, seconds) with better and better plans, given and returned as names of operators, "
          "until nothing helps any more ('done') or at a limit ('time', 'memory', 'interrupted').");
}

}  // namespace gsp
