"""Fast Downward's search language: its syntax, its features in one registry, and what they are made of for a task.

From outside, use :mod:`gsp_fd.fd_integration.language.registry`, and ``features`` and ``context`` for its classes.
"""
