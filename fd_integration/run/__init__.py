"""One run of the planner: options, limits, translation, search or portfolio, the log, and the plan files.

From outside, use ``options`` and ``configuration`` for what a command line means, ``search`` to run it.
"""
