// For test_plugin.py: values of the initial state, then of all successors along a path, by the plugin's StateValues.
// Arguments: task file, parent_q (0 or 1), bytes of the cache. A line per state on the path: the values of its successors.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "state_values.h"

using namespace gsp_heuristic;

static std::vector<int32_t> atoms_of(gsp_task &task, int32_t state) {
    size_t count;
    const int32_t *atoms = gsp_state_atoms(&task, state, &count);
    return {atoms, atoms + count};
}

static void walk(StateValues &values) {
    gsp_task &task = values.task();
    std::vector<int32_t> parent = atoms_of(task, gsp_initial_state(&task));
    std::printf("%.9g\n", static_cast<double>(values.value(parent)));
    for (size_t step = 0; step < 6; ++step) {
        values.set_parent(parent);
        const int32_t *successors, *costs;
        size_t count = gsp_successors(&task, gsp_state(&task, parent.data(), parent.size()), &successors, &costs);
        std::vector<std::vector<int32_t>> children;
        for (size_t i = 0; i < count; ++i) children.push_back(atoms_of(task, successors[i]));
        for (const auto &child : children) std::printf("%.9g ", static_cast<double>(values.value(child)));
        std::printf("\n");
        parent = children[step % count];
    }
    std::printf("calls %lld strangers %lld\n", static_cast<long long>(values.network_calls()),
                static_cast<long long>(values.strangers()));
}

int main(int, char **argv) {
    try {
        std::ifstream file(argv[1], std::ios::binary);
        std::string text{std::istreambuf_iterator<char>(file), {}};
        StateValues values(read_task(text, argv[1]), std::stoi(argv[2]) != 0, std::stoul(argv[3]));
        walk(values);
    } catch (const std::runtime_error &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
