// For python -m tests.fuzz.coverage: the reader of SAS files, the task it makes, and a short search in it.
#include <string_view>

#include "ground_space.h"
#include "ground_task.h"

using namespace gsp;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    try {
        std::shared_ptr<GroundTask> task = GroundTask::from_sas({reinterpret_cast<const char *>(data), size});
        (void)task->to_sas();
        GroundSpace space(task);
        int32_t state = space.initial_state();
        std::vector<int32_t> operators;
        for (size_t step = 0; step < 8; ++step) {
            operators.clear();
            space.load(state);
            if (space.is_goal()) break;
            space.applicable(operators);
            if (operators.empty()) break;
            state = space.apply(operators[step % operators.size()]);
        }
    } catch (const InputError &) {
    }
    return 0;
}
