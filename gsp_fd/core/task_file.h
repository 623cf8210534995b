// A lifted task with a model for it as text, for programs without Python. fd_integration/tools/plugin_task.py writes it.
#pragma once

#include <string_view>

#include "encoder.h"
#include "network.h"

namespace gsp {

/// A line is a keyword and its arguments, separated by single spaces; the first is `gsp-task 4`, the last `end`. Objects,
/// types, predicates, functions and schemas are numbered in the order of their lines and stand before their first use.
struct TaskFile {
    std::shared_ptr<LiftedTask> task = std::make_shared<LiftedTask>();
    std::string model;  // the ONNX file that the weights are from
    std::vector<RelationSpec> relations;
    NetworkWeights weights;

    static constexpr int version = 4;
    /// InputError with the line where the text is not such a file.
    static TaskFile read(std::string_view text);
};

}  // namespace gsp
