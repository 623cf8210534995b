"""Fast Downward's interface: the program ``gsp-plan``, and the engine for unified-planning.

From outside, import :func:`gsp_fd.fd_integration.driver.main`, and for searches without the command line
:mod:`gsp_fd.fd_integration.language.registry` and :mod:`gsp_fd.fd_integration.run.search`.
"""
