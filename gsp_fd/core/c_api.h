/* The lifted task, the encoder and the network of the core behind a C interface, for programs that are not Python. The plugin for
 * Fast Downward is one. A gsp_task is one task, a model for it, and its states.
 * A gsp_task is for one thread at a time. Numbers of states and atoms are those that these functions returned. */
#ifndef GSP_C_API_H
#define GSP_C_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gsp_task gsp_task;

/* Reads a task file (see task_file.h). NULL and a message of at most error_size bytes if it is none. */
gsp_task *gsp_task_read(const char *text, size_t size, char *error, size_t error_size);
void gsp_task_free(gsp_task *task);
/* The ONNX file that the weights are from. */
const char *gsp_task_model(const gsp_task *task);

/* The number of a fluent atom by Fast Downward's name, "Atom on(a, b)"; -1 if the task has no such atom. */
int32_t gsp_atom(gsp_task *task, const char *name);
/* Fluent atoms of a state, sorted; valid until the next call with this task. */
const int32_t *gsp_state_atoms(gsp_task *task, int32_t state, size_t *count);
/* The state with these atoms and no others, new or known. States have the numbers below gsp_num_states. */
int32_t gsp_state(gsp_task *task, const int32_t *atoms, size_t count);
int32_t gsp_initial_state(gsp_task *task);
int32_t gsp_num_states(const gsp_task *task);
/* Bytes of all states; and forgetting all of them but the initial one. Atoms keep their numbers. */
size_t gsp_state_bytes(const gsp_task *task);
void gsp_forget_states(gsp_task *task);

#define GSP_FAILED ((size_t)-1)
/* The states that the applicable actions lead to, and what the actions cost, in the order of gsp_action_values; both
 * arrays are valid until the next call with this task. A state may come more than once. GSP_FAILED if the task does not say
 * what an action costs: gsp_error has more. */
size_t gsp_successors(gsp_task *task, int32_t state, const int32_t **successors, const int32_t **costs);

/* -max_a Q(s, a) of several states, in as many calls of the network as their size demands: 0 in goal states, infinity where no
 * action is applicable. 1, or 0 if it cannot be had: gsp_error says why. */
int gsp_values(gsp_task *task, const int32_t *states, size_t count, double *values);
/* -Q(s, a) of the applicable actions of a state, in the order of gsp_successors. */
int gsp_action_values(gsp_task *task, int32_t state, double *values);
const char *gsp_error(const gsp_task *task);

#ifdef __cplusplus
}
#endif

#endif
