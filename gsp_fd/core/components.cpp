#include "components.h"

namespace gsp {

/// Tarjan's algorithm, with a stack of its own: graphs of ground atoms are deeper than the machine's.
std::vector<std::vector<int32_t>> components(const std::vector<std::vector<int32_t>> &successors) {
    const auto count = static_cast<int32_t>(successors.size());
    std::vector<int32_t> index(count, -1), lowest(count), waiting;
    std::vector<char> is_waiting(count, 0);
    std::vector<std::vector<int32_t>> result;
    std::vector<std::pair<int32_t, size_t>> path;  // nodes, and how many successors of them were looked at
    int32_t visited = 0;
    auto enter = [&](int32_t node) {
        index[node] = lowest[node] = visited++;
        waiting.push_back(node);
        is_waiting[node] = 1;
        path.emplace_back(node, 0);
    };
    for (int32_t root = 0; root < count; ++root) {
        if (index[root] < 0) enter(root);
        while (!path.empty()) {
            auto &[node, taken] = path.back();
            if (taken < successors[node].size()) {
                int32_t next = successors[node][taken++];
                if (index[next] < 0) enter(next);
                else if (is_waiting[next]) lowest[node] = std::min(lowest[node], index[next]);
                continue;
            }
            const int32_t done = node;
            path.pop_back();
            if (!path.empty()) lowest[path.back().first] = std::min(lowest[path.back().first], lowest[done]);
            if (lowest[done] != index[done]) continue;
            std::vector<int32_t> &component = result.emplace_back();
            do {
                component.push_back(waiting.back());
                is_waiting[waiting.back()] = 0;
                waiting.pop_back();
            } while (component.back() != done);
        }
    }
    return result;
}

}  // namespace gsp
