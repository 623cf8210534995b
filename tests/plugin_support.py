"""Compiling and calling the C interface of the core, for the tests of the plugin in Fast Downward's source tree."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

ROOT = Path(__file__).parents[1]
PLUGIN, CORE = ROOT / "fd_integration" / "plugin", ROOT / "gsp_fd" / "core"
STRICT = ["-std=c++20", "-O1", "-fPIC", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
GOAL, DEAD_END = 1, 2
FOLDERS = {
    "GSP_FD_SOURCES": "a checkout of Fast Downward to build the plugin into",
    "GSP_ONNXRUNTIME_INCLUDE": "the folder of onnxruntime_c_api.h",
}
"""What the environment variables of these tests name."""


def core_sources() -> list[Path]:
    """The sources of the target ``gsp_c``, from its CMake file."""
    names = re.search(r"set\(GSP_C_SOURCES (.*)\)", (PLUGIN / "gsp_c.cmake").read_text())
    assert names
    return [CORE / f"{name}.cpp" for name in names[1].split()]


def from_environment(variable: str) -> Path:
    """A folder that an environment variable names; skip where it is not set: nothing on PyPI has these files."""
    if variable not in os.environ:
        pytest.skip(f"{variable} is not set: it names {FOLDERS[variable]}, see fd_integration/plugin/README.md")
    return Path(os.environ[variable])


def compile_strictly(target: Path, *arguments: str | Path) -> Path:
    """Compile with every warning an error; skip where there is no compiler."""
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    command = [compiler, *STRICT, f"-I{CORE}", *map(str, arguments), "-o", str(target)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return target


class _Array(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("is_float", ctypes.c_int),
        ("data", ctypes.c_void_p),
        ("rows", ctypes.c_size_t),
        ("columns", ctypes.c_size_t),
    )


def load_library(path: Path) -> Any:
    """The shared library with the types of its functions."""
    library = ctypes.CDLL(str(path))
    pointer, size, text = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p
    ints = ctypes.POINTER(ctypes.c_int32)
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "gsp_task_read": (pointer, [text, size, text, size]),
        "gsp_task_free": (None, [pointer]),
        "gsp_task_model": (text, [pointer]),
        "gsp_atom": (ctypes.c_int32, [pointer, text]),
        "gsp_state_atoms": (ints, [pointer, ctypes.c_int32, ctypes.POINTER(size)]),
        "gsp_state": (ctypes.c_int32, [pointer, ints, size]),
        "gsp_initial_state": (ctypes.c_int32, [pointer]),
        "gsp_num_states": (ctypes.c_int32, [pointer]),
        "gsp_forget_states": (None, [pointer]),
        "gsp_successors": (size, [pointer, ctypes.c_int32, ctypes.POINTER(ints), ctypes.POINTER(ints)]),
        "gsp_batch_add": (ctypes.c_int, [pointer, ctypes.c_int32]),
        "gsp_batch_messages": (size, [pointer]),
        "gsp_batch_clear": (None, [pointer]),
        "gsp_num_inputs": (size, [pointer]),
        "gsp_batch_input": (_Array, [pointer, size]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


class CTask:
    """A task behind the C interface; ValueError with its message if the text is no task file."""

    def __init__(self, library: Any, text: bytes) -> None:
        self.library = library
        message = ctypes.create_string_buffer(1000)
        self.handle = library.gsp_task_read(text, len(text), message, len(message))
        if not self.handle:
            raise ValueError(message.value.decode())

    def __del__(self) -> None:
        if self.handle:
            self.library.gsp_task_free(self.handle)

    def call(self, name: str, *arguments: Any) -> Any:
        """A function of the interface that takes and returns numbers or names."""
        return getattr(self.library, f"gsp_{name}")(self.handle, *arguments)

    def state(self, atoms: list[int]) -> int:
        """The state with these atoms."""
        return self.call("state", (ctypes.c_int32 * len(atoms))(*atoms), len(atoms))

    def atoms(self, state: int) -> list[int]:
        """The atoms of a state."""
        count = ctypes.c_size_t()
        return self.call("state_atoms", state, ctypes.byref(count))[: count.value]

    def successors(self, state: int) -> tuple[list[int], list[int]]:
        """Successors and costs."""
        pointers = ctypes.POINTER(ctypes.c_int32)(), ctypes.POINTER(ctypes.c_int32)()
        count = self.call("successors", state, *map(ctypes.byref, pointers))
        return pointers[0][:count], pointers[1][:count]

    def inputs(self) -> dict[str, npt.NDArray[Any]]:
        """The inputs of the network for the batch, copied."""
        result = {}
        for number in range(self.call("num_inputs")):
            array = self.call("batch_input", number)
            kind = np.float32 if array.is_float else np.int64
            shape = (array.rows, array.columns) if array.columns else (array.rows,)
            data = ctypes.string_at(array.data, int(np.prod(shape)) * np.dtype(kind).itemsize) if array.data else b""
            result[array.name.decode()] = np.frombuffer(data, dtype=kind).reshape(shape)
        return result
