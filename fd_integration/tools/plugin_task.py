"""Task files for the plugin in Fast Downward's source tree: a lifted task and a model for it, as text.

``python -m gsp_fd.fd_integration.tools.plugin_task --model NAME --domain FILE --problem FILE --output FILE``. The
format is read by ``gsp_fd/core/task_file.cpp``: a line is a keyword and its arguments; the README of the plugin lists
them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from gsp_fd._core import CoreInputError
from gsp_fd.common.errors import InputError, search_error
from gsp_fd.common.exit_codes import ExitCode
from gsp_fd.common.files import write_atomically
from gsp_fd.fd_integration.tools.pddl_files import find_pddl_files
from gsp_fd.inference import NativeNetwork
from gsp_fd.model import relation_specs, task_fit_problems
from gsp_fd.model_format import ModelMetadata, read_metadata, read_model, weights_of, weights_prefix
from gsp_fd.model_library import find_model
from gsp_fd.pddl import LiftedTask, Rule, Schema
from gsp_fd.task import load_pddl

FORMAT_VERSION = 4


def task_text(task: LiftedTask, model: Path) -> bytes:
    """The task file of a task for a model; InputError if the model does not fit or the plugin cannot compute it."""
    metadata = read_metadata(model)
    if problems := task_fit_problems(metadata, task):
        message = f"the model does not fit the task: {'; '.join(problems[:5])}"
        raise search_error(message, str(model))
    lines = [
        ("gsp-task", FORMAT_VERSION),
        ("model", model.absolute()),
        ("metric", int(task.use_costs)),
        *_symbols(task),
        *_schemas(task),
        *(("init", predicate, *args) for predicate, args in task.init),
        *(("goal", predicate, *args) for predicate, args in task.goal_positive),
        *(("not_goal", predicate, *args) for predicate, args in task.goal_negative),
        *_relations(metadata, task),
        *_weights(metadata, model),
        ("end",),
    ]
    text = "".join(" ".join(map(str, line)) + "\n" for line in lines)
    return text.encode(errors="surrogateescape")


Lines = Iterator[tuple[object, ...]]


def _symbols(task: LiftedTask) -> Lines:
    yield from (("object", name) for name in task.objects)
    yield from (("type", *members) for members in task.type_members)
    for name, arity, fluent in zip(task.predicates, task.arities, task.fluent, strict=True):
        yield "predicate", name, arity, int(fluent)
    for number, values in enumerate(task.function_values):
        yield "function", len(next(iter(values), ()))
        yield from (("value", number, value, *args) for args, value in values.items())


def _schemas(task: LiftedTask) -> Lines:
    for schema in task.schemas:
        yield "schema", schema.name, schema.cost, *schema.parameters
        yield from (("cost", function, *args) for function, args in schema.cost_terms)
        yield from _rule(schema)
        for keyword, rules in (("alternative", schema.alternatives), ("effect", schema.conditional)):
            for rule in rules:
                yield keyword, *rule.parameters
                yield from _rule(rule)
    for number, stratum in enumerate(task.axioms):
        for rule in stratum:
            yield "axiom", number, *rule.parameters
            yield from _rule(rule)


def _rule(rule: Rule | Schema) -> Lines:
    for part in ("positive", "negative", "add", "delete"):
        yield from ((part, literal.predicate, *literal.args) for literal in getattr(rule, part))
    yield from (("equal", *pair) for pair in rule.equal)
    yield from (("unequal", *pair) for pair in rule.unequal)


def _relations(metadata: ModelMetadata, task: LiftedTask) -> Lines:
    specs: Iterable[tuple[str, int, int]] = relation_specs(metadata, task)
    for (name, arity), spec in zip(metadata.relations, specs, strict=True):
        yield "relation", *spec, metadata.network.hidden_of(arity), weights_prefix(name)


def _weights(metadata: ModelMetadata, model: Path) -> Lines:
    """The shape of the network, and its arrays: eight hexadecimal digits for the bits of each float."""
    network = metadata.network
    if not NativeNetwork.takes(network):
        raise InputError(
            "the plugin takes networks with max aggregation, a sum as readout, and widths that are multiples of 8; "
            f"this one has aggregation {network.aggregation}, readout {network.readout}, d = {network.d} and "
            f"message_hidden = {network.message_hidden}: use gsp-plan or gsp-fd-build, or train with max aggregation",
            str(model),
            exit_code=ExitCode.SEARCH_UNSUPPORTED,
        )
    arrays = weights_of(read_model(model), str(model))
    try:
        NativeNetwork(network, metadata.relations, arrays, kept=0)
    except CoreInputError as error:
        message = f"the model is damaged: {error.args[0]}"
        raise search_error(message, model) from None
    yield "network", network.d, network.layers, network.pool
    yield from (("weights", name, array.astype(">f4").tobytes().hex()) for name, array in arrays.items())


def parser() -> argparse.ArgumentParser:
    """The command line of this module."""
    result = argparse.ArgumentParser(
        prog="python -m gsp_fd.fd_integration.tools.plugin_task",
        description="Write the task file that gsp(task=...) of the plugin in Fast Downward's source tree reads.",
    )
    result.add_argument("--model", default="auto", help="an .onnx file, the name of a shipped model, or auto (default)")
    result.add_argument(
        "--domain", metavar="FILE", help="PDDL domain (default: GSP_DOMAIN, or found beside the problem)"
    )
    result.add_argument("--problem", metavar="FILE", help="PDDL problem (default: GSP_PROBLEM, or that of the driver)")
    result.add_argument("--output", type=Path, metavar="FILE", help="where to write it (default: standard output)")
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes a task file; returns the exit code."""
    options = parser().parse_args(arguments)
    try:
        task = load_pddl(*find_pddl_files(options.domain, options.problem)).lifted
        assert task is not None
        text = task_text(task, find_model(options.model, task))
        if options.output is None:
            sys.stdout.buffer.write(text)
            sys.stdout.flush()
        else:
            write_atomically(options.output, text)
    except InputError as error:
        print(f"gsp-fd: error: {error}", file=sys.stderr)
        return error.exit_code
    except OSError as error:
        print(f"gsp-fd: error: {options.output or 'standard output'}: {error.strerror}", file=sys.stderr)
        return ExitCode.DRIVER_INPUT_ERROR
    return ExitCode.SUCCESS


if __name__ == "__main__":
    sys.exit(main())
