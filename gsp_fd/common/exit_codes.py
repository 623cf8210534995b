"""Fast Downward's exit codes, under Fast Downward's names: the one table used everywhere."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """How a planner run ended; the value is the exit status of the process."""

    SUCCESS = 0
    SEARCH_PLAN_FOUND_AND_OUT_OF_MEMORY = 1
    SEARCH_PLAN_FOUND_AND_OUT_OF_TIME = 2
    SEARCH_PLAN_FOUND_AND_OUT_OF_MEMORY_AND_TIME = 3

    TRANSLATE_UNSOLVABLE = 10
    SEARCH_UNSOLVABLE = 11
    SEARCH_UNSOLVED_INCOMPLETE = 12
    SEARCH_UNSOLVABLE_WITHIN_BOUND = 13

    TRANSLATE_OUT_OF_MEMORY = 20
    TRANSLATE_OUT_OF_TIME = 21
    SEARCH_OUT_OF_MEMORY = 22
    SEARCH_OUT_OF_TIME = 23
    SEARCH_OUT_OF_MEMORY_AND_TIME = 24

    TRANSLATE_CRITICAL_ERROR = 30
    TRANSLATE_INPUT_ERROR = 31
    SEARCH_CRITICAL_ERROR = 32
    SEARCH_INPUT_ERROR = 33
    SEARCH_UNSUPPORTED = 34
    DRIVER_CRITICAL_ERROR = 35
    DRIVER_INPUT_ERROR = 36
    DRIVER_UNSUPPORTED = 37
