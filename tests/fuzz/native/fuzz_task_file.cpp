// For python -m tests.fuzz.coverage: the C interface, from a task file to Q-values.
#include "c_api.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char error[200];
    gsp_task *task = gsp_task_read(reinterpret_cast<const char *>(data), size, error, sizeof error);
    if (!task) return 0;
    int32_t state = gsp_initial_state(task);
    for (size_t step = 0; step < 3; ++step) {
        const int32_t *successors, *costs;
        size_t count = gsp_successors(task, state, &successors, &costs);
        if (count == GSP_FAILED || count == 0) break;
        int32_t next = successors[step % count];
        double value;
        gsp_values(task, &state, 1, &value);
        gsp_atom(task, "Atom at-ferry(loc1)");
        state = next;
    }
    gsp_forget_states(task);
    gsp_task_free(task);
    return 0;
}
