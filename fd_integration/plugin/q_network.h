// A model in ONNX Runtime. Its library is loaded at run time, so a planner that links this starts without it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "c_api.h"

struct OrtApi;
struct OrtEnv;
struct OrtSession;
struct OrtMemoryInfo;
struct OrtValue;
struct OrtStatus;

namespace gsp_heuristic {

class QNetwork {
public:
    /// Throws std::runtime_error if the library or the model cannot be used.
    QNetwork(const std::string &library, const std::string &model, int threads);
    QNetwork(const QNetwork &) = delete;
    ~QNetwork();

    /// Q-values of all actions in the batch of the task, valid until the next call; std::runtime_error if it fails.
    std::span<const float> run(const gsp_task &task);

private:
    void check(OrtStatus *status, const char *what) const;
    OrtValue *tensor(const gsp_array &array) const;
    void release_values();

    std::string model_;
    const OrtApi *api_ = nullptr;
    OrtEnv *env_ = nullptr;
    OrtSession *session_ = nullptr;
    OrtMemoryInfo *memory_ = nullptr;
    OrtValue *output_ = nullptr;
    std::vector<const char *> names_;
    std::vector<OrtValue *> inputs_;
};

}  // namespace gsp_heuristic
