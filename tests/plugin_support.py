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


def core_sources() -> list[str | Path]:
    """The sources of the target ``gsp_c``, with the options of the one that has some, from its CMake file."""
    text = (PLUGIN / "gsp_c.cmake").read_text()
    names = re.search(r"set\(GSP_C_SOURCES ([^)]*)\)", text)
    options = re.search(r'COMPILE_OPTIONS "(.*)"', text)
    assert names
    assert options
    return [*options[1].split(";"), *(CORE / f"{name}.cpp" for name in names[1].split())]


def fast_downward_sources() -> Path:
    """The checkout that GSP_FD_SOURCES names; skip where it is not set: nothing on PyPI has these files."""
    if "GSP_FD_SOURCES" not in os.environ:
        reason = "it names a checkout of Fast Downward to build the plugin into, see fd_integration/plugin/README.md"
        pytest.skip(f"GSP_FD_SOURCES is not set: {reason}")
    return Path(os.environ["GSP_FD_SOURCES"])


def compile_strictly(target: Path, *arguments: str | Path) -> Path:
    """Compile with every warning an error; skip where there is no compiler."""
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    command = [compiler, *STRICT, f"-I{CORE}", *map(str, arguments), "-o", str(target)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return target


def load_library(path: Path) -> Any:
    """The shared library with the types of its functions."""
    library = ctypes.CDLL(str(path))
    pointer, size, text = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p
    ints, doubles = ctypes.POINTER(ctypes.c_int32), ctypes.POINTER(ctypes.c_double)
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
        "gsp_values": (ctypes.c_int, [pointer, ints, size, doubles]),
        "gsp_action_values": (ctypes.c_int, [pointer, ctypes.c_int32, doubles]),
        "gsp_error": (text, [pointer]),
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
        return int(self.call("state", (ctypes.c_int32 * len(atoms))(*atoms), len(atoms)))

    def atoms(self, state: int) -> list[int]:
        """The atoms of a state."""
        count = ctypes.c_size_t()
        return list(self.call("state_atoms", state, ctypes.byref(count))[: count.value])

    def successors(self, state: int) -> tuple[list[int], list[int]]:
        """Successors and costs."""
        pointers = ctypes.POINTER(ctypes.c_int32)(), ctypes.POINTER(ctypes.c_int32)()
        count = self.call("successors", state, *map(ctypes.byref, pointers))
        if count == ctypes.c_size_t(-1).value:
            raise RuntimeError(self.call("error").decode())
        return pointers[0][:count], pointers[1][:count]

    def values(self, states: list[int]) -> npt.NDArray[np.float64]:
        """-max_a Q(s, a) of states; RuntimeError with the message of the interface."""
        values = (ctypes.c_double * len(states))()
        if not self.call("values", (ctypes.c_int32 * len(states))(*states), len(states), values):
            raise RuntimeError(self.call("error").decode())
        return np.array(values)

    def action_values(self, state: int) -> npt.NDArray[np.float64]:
        """-Q(s, a) of the applicable actions of a state."""
        values = (ctypes.c_double * len(self.successors(state)[0]))()
        assert self.call("action_values", state, values)
        return np.array(values)
