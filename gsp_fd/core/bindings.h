// What the parts of the Python face share: conversions, the watch over signals, and the parts themselves.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <limits>

#include "common.h"
#include "state_space.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace gsp {

using IntArray = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Runs pending Python signal handlers; a handler that raises stops the work.
inline bool poll_signals() {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() == 0) return false;
    PyErr_Clear();
    return true;
}

inline Watch make_watch(std::optional<double> max_time, std::optional<size_t> max_memory_kb) {
    return Watch(max_time.value_or(std::numeric_limits<double>::infinity()), max_memory_kb.value_or(0), poll_signals);
}

/// The same with progress(steps), called a few times a second where the work takes longer than one.
inline Watch make_watch(std::optional<double> max_time, std::optional<size_t> max_memory_kb, nb::object progress) {
    Watch watch = make_watch(max_time, max_memory_kb);
    if (!progress.is_none())
        watch.set_report([progress](size_t steps) {
            nb::gil_scoped_acquire gil;
            progress(steps);
        });
    return watch;
}

/// Text of a file that may be in any encoding.
inline nb::str to_str(std::string_view text) {
    return nb::steal<nb::str>(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

template<class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::vector<T> values) {
    auto *owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void *p) noexcept { delete static_cast<std::vector<T> *>(p); });
    return {owned->data(), {owned->size()}, owner};
}

inline void check_state(const StateSpace &space, int32_t state) {
    if (state < 0 || static_cast<size_t>(state) >= space.num_states()) throw nb::index_error("no such state");
}

inline void check_operator(const StateSpace &space, int32_t op) {
    if (op < 0 || static_cast<size_t>(op) >= space.num_operators()) throw nb::index_error("no such operator");
}

void bind_tasks(nb::module_ &m);
void bind_spaces(nb::module_ &m);
void bind_encoder(nb::module_ &m);
void bind_episodes(nb::module_ &m);
void bind_evaluators(nb::module_ &m);
void bind_search(nb::module_ &m);
void bind_improve(nb::module_ &m);

}  // namespace gsp
