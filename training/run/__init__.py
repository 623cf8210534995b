"""A run of ``gsp-train``: its command line and settings, its folder, the session that trains, report and model card.

From outside, use the program (:mod:`gsp_fd.training.run.cli`).
"""
