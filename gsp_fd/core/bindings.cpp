// The Python face of the core. No logic lives here beyond conversion, the GIL and signals.
#include "bindings.h"

NB_MODULE(_core, m) {
    m.doc() = "Native core: tasks, states, heuristics and search.";
    nb::set_leak_warnings(false);
    static PyObject *input_error = PyErr_NewException("gsp_fd._core.CoreInputError", PyExc_ValueError, nullptr);
    static PyObject *stopped = PyErr_NewException("gsp_fd._core.Stopped", PyExc_RuntimeError, nullptr);
    m.attr("CoreInputError") = nb::handle(input_error);
    m.attr("Stopped") = nb::handle(stopped);
    nb::register_exception_translator([](const std::exception_ptr &p, void *) {
        try {
            std::rethrow_exception(p);
        } catch (const gsp::InputError &e) {
            nb::tuple args = nb::make_tuple(gsp::to_str(e.what()), e.line);
            PyErr_SetObject(input_error, args.ptr());
        } catch (const gsp::Stopped &e) {
            const char *reason = e.reason == gsp::Stop::time ? "time" : e.reason == gsp::Stop::memory ? "memory" : "interrupted";
            PyErr_SetString(stopped, reason);
        }
    });
    gsp::bind_tasks(m);
    gsp::bind_spaces(m);
    gsp::bind_encoder(m);
    gsp::bind_evaluators(m);
    gsp::bind_search(m);
    gsp::bind_improve(m);
    gsp::bind_episodes(m);
}
