// For test_plugin.py: what the encoder makes of a task file. Argument: the file. States are those of a path as the test takes it;
// a line per relation of their batch, then node_state, action_node, action_state and state_sizes.
#include <cstdio>
#include <fstream>
#include <iterator>

#include "task_file.h"

using namespace gsp;

template<class T>
static void print(const std::vector<T> &values) {
    for (T value : values) std::printf("%lld ", static_cast<long long>(value));
    std::printf("\n");
}

int main(int, char **argv) {
    std::ifstream stream(argv[1], std::ios::binary);
    TaskFile file = TaskFile::read(std::string{std::istreambuf_iterator<char>(stream), {}});
    Encoder encoder(file.task, file.relations);
    LiftedSpace space(file.task, false);
    EncodedBatch batch = encoder.empty_batch();
    int32_t state = space.initial_state();
    for (size_t step = 0; step < 8; ++step) {
        std::vector<int32_t> operators, successors;
        space.load(state);
        space.applicable(operators);
        if (space.is_goal() || operators.empty()) break;
        for (int32_t op : operators) successors.push_back(space.apply(op));
        encoder.append_state(space, state, operators, {}, batch);
        state = successors[step % successors.size()];
    }
    for (const auto &relation : batch.relations) print(relation);
    for (const auto *array : {&batch.node_state, &batch.action_node, &batch.action_state}) print(*array);
    print(batch.state_sizes);
    return 0;
}
