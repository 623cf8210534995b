// A lifted task with the relations of a model as text, for programs without Python. fd_integration/plugin_task.py writes it.
#pragma once

#include <string_view>

#include "encoder.h"

namespace gsp {

/// A line is a keyword and its arguments, separated by single spaces; the first is `gsp-task 1`, the last `end`. Objects,
/// types, predicates, functions and schemas are numbered in the order of their lines and stand before their first use.
struct TaskFile {
    std::shared_ptr<LiftedTask> task = std::make_shared<LiftedTask>();
    std::string model, runtime;  // files: the ONNX model, the library of ONNX Runtime
    std::vector<RelationSpec> relations;
    std::vector<std::string> inputs;  // name of the ONNX input of each relation

    static constexpr int version = 1;
    /// InputError with the line where the text is not such a file.
    static TaskFile read(std::string_view text);
};

}  // namespace gsp
