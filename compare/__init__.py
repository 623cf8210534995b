"""Comparisons: planners and configurations run over suites of problems, and what came out as tables and a page.

From outside, use the program ``gsp-compare`` (:mod:`gsp_fd.compare.cli`) and the results file that it writes.
"""
