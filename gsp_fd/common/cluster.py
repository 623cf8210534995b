"""Ray: the way to other machines, for whatever runs on several."""

from __future__ import annotations

import os
import secrets
import sys
from typing import Any

from gsp_fd.common.errors import InputError
from gsp_fd.common.exit_codes import ExitCode

_LOCAL_SETTINGS = {"RAY_AUTH_MODE": "token", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""The second one is what makes Ray take the loopback address for its own, whatever the system."""


def connect(workers: int, address: str, *, needed_by: str, otherwise: str) -> Any:
    """The ray module, connected: to the cluster at an address, or without one to an instance on this machine.

    Whoever reaches Ray can run code: that instance listens on the loopback interface only, and wants its token.
    InputError if there is no Ray or no cluster; ``needed_by`` and ``otherwise`` say there what wants it and what helps.
    """
    local = address in ("", "local")
    try:
        if local and "ray" not in sys.modules:  # it reads its settings once, when it is imported
            os.environ.update(_LOCAL_SETTINGS)
            os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        import ray
    except ModuleNotFoundError:
        raise InputError(
            f"{needed_by} Ray: pip install 'gsp-fd[ray]', or {otherwise}", exit_code=ExitCode.DRIVER_INPUT_ERROR
        ) from None
    if ray.is_initialized():
        return ray
    own: dict[str, Any] = {"num_cpus": workers, "include_dashboard": False, "object_store_memory": 256 << 20}
    own["_node_ip_address"] = "127.0.0.1"
    try:
        common: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": True}
        ray.init(address=address or "local", **(own if local else {}), **common)
    except Exception as error:  # Ray also raises bare ones
        reason = " ".join(str(error).split())[:300]
        raise InputError(
            f"cannot connect to Ray at {address or 'this machine'}: {reason}", exit_code=ExitCode.DRIVER_INPUT_ERROR
        ) from None
    return ray
