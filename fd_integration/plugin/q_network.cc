#include "q_network.h"

#include <dlfcn.h>
#include <onnxruntime_c_api.h>

#include <cmath>
#include <stdexcept>
#include <utility>

namespace gsp_heuristic {

// All functions used here are in this version of the interface; every later library serves it.
static constexpr uint32_t api_version = 17;
static constexpr const char *output_name = "q";

static const OrtApi *load_api(const std::string &library) {
    void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) throw std::runtime_error("cannot load ONNX Runtime (set GSP_ONNXRUNTIME to its library): " + std::string(dlerror()));
    using GetBase = const OrtApiBase *(*)();
    auto get_base = reinterpret_cast<GetBase>(dlsym(handle, "OrtGetApiBase"));
    const OrtApi *api = get_base ? get_base()->GetApi(api_version) : nullptr;
    if (!api) throw std::runtime_error(library + " is no ONNX Runtime of version 1." + std::to_string(api_version) + " or later");
    return api;
}

QNetwork::QNetwork(const std::string &library, const std::string &model, int threads) : model_(model), api_(load_api(library)) {
    check(api_->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "gsp", &env_), "start");
    check(api_->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory_), "start");
    OrtSessionOptions *options = nullptr;
    check(api_->CreateSessionOptions(&options), "start");
    std::unique_ptr<OrtSessionOptions, decltype(api_->ReleaseSessionOptions)> owner(options, api_->ReleaseSessionOptions);
    check(api_->SetIntraOpNumThreads(options, threads), "start");
    check(api_->SetInterOpNumThreads(options, 1), "start");
    check(api_->CreateSession(env_, model.c_str(), options, &session_), "load");
}

QNetwork::~QNetwork() {
    release_values();
    if (session_) api_->ReleaseSession(session_);
    if (memory_) api_->ReleaseMemoryInfo(memory_);
    if (env_) api_->ReleaseEnv(env_);
}

void QNetwork::check(OrtStatus *status, const char *what) const {
    if (!status) return;
    std::string message = api_->GetErrorMessage(status);
    api_->ReleaseStatus(status);
    throw std::runtime_error("ONNX Runtime cannot " + std::string(what) + " " + model_ + ": " + message);
}

OrtValue *QNetwork::tensor(const gsp_array &array) const {
    // ONNX Runtime takes const data for inputs through a pointer that is not; it wants one even where there are no rows.
    static int64_t nothing;
    void *data = array.data ? const_cast<void *>(array.data) : &nothing;
    const int64_t shape[] = {static_cast<int64_t>(array.rows), static_cast<int64_t>(array.columns)};
    size_t count = array.rows * (array.columns ? array.columns : 1);
    OrtValue *value = nullptr;
    check(api_->CreateTensorWithDataAsOrtValue(
              memory_, data, count * (array.is_float ? sizeof(float) : sizeof(int64_t)), shape, array.columns ? 2 : 1,
              array.is_float ? ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT : ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, &value),
          "evaluate");
    return value;
}

std::span<const float> QNetwork::run(const gsp_task &task) {
    release_values();
    for (size_t i = 0; i < gsp_num_inputs(&task); ++i) {
        gsp_array array = gsp_batch_input(&task, i);
        names_.push_back(array.name);
        inputs_.push_back(tensor(array));
    }
    check(api_->Run(session_, nullptr, names_.data(), inputs_.data(), inputs_.size(), &output_name, 1, &output_), "evaluate");
    size_t count = 0;
    gsp_batch_action_states(&task, &count);
    OrtTensorTypeAndShapeInfo *info = nullptr;
    check(api_->GetTensorTypeAndShape(output_, &info), "evaluate");
    std::unique_ptr<OrtTensorTypeAndShapeInfo, decltype(api_->ReleaseTensorTypeAndShapeInfo)> owner(
        info, api_->ReleaseTensorTypeAndShapeInfo);
    size_t elements = 0;
    ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    check(api_->GetTensorShapeElementCount(info, &elements), "evaluate");
    check(api_->GetTensorElementType(info, &type), "evaluate");
    if (elements != count || type != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT)
        throw std::runtime_error(model_ + " does not yield one float per action: it is no model of gsp-fd");
    float *q = nullptr;
    check(api_->GetTensorMutableData(output_, reinterpret_cast<void **>(&q)), "evaluate");
    for (size_t i = 0; i < count; ++i)
        if (!std::isfinite(q[i])) throw std::runtime_error(model_ + " yields Q-values that are no numbers: its weights are damaged");
    return {q, count};
}

void QNetwork::release_values() {
    for (OrtValue *value : inputs_) api_->ReleaseValue(value);
    inputs_.clear();
    names_.clear();
    if (output_) api_->ReleaseValue(std::exchange(output_, nullptr));
}

}  // namespace gsp_heuristic
