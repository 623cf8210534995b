/* The lifted task, the encoder and the network of the core behind a C interface, for programs that are not Python. The plugin for
 * Fast Downward is one. A gsp_task is one task, a model for it, its states, and one batch of encoded states.
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

/* The states that the applicable actions lead to, and what the actions cost, in the order of the actions in a batch; both
 * arrays are valid until the next call with this task. A state may come more than once. */
size_t gsp_successors(gsp_task *task, int32_t state, const int32_t **successors, const int32_t **costs);

enum gsp_kind { GSP_INNER, GSP_GOAL, GSP_DEAD_END };
/* Adds a state with its applicable actions to the batch and says it is inner; goal states, and states without applicable
 * actions, are not added. */
enum gsp_kind gsp_batch_add(gsp_task *task, int32_t state);
/* Arguments of atoms in the batch: the work and the memory of the network grow with it. */
size_t gsp_batch_messages(const gsp_task *task);
void gsp_batch_clear(gsp_task *task);

/* The state of each action, as its place in the batch: Q-values come in the order of these actions. */
const int64_t *gsp_batch_action_states(const gsp_task *task, size_t *count);
/* Q-values of these actions, valid until the next call of this function. */
const float *gsp_batch_q_values(gsp_task *task, size_t *count);

#ifdef __cplusplus
}
#endif

#endif
