"""The collector's pools, counters and random state as JSON, for checkpoints and for search workers. Free of torch."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from gsp_fd.training.learning.episodes import Collector
from gsp_fd.training.learning.pools import Record, Status


def collector_state(collector: Collector) -> dict[str, Any]:
    """Pools, counters, success of the weights, and random state."""
    return {
        "records": [asdict(record) for record in collector.pools.records],
        "success": list(collector.choice.success.items()),
        "episodes": collector.episodes,
        "expansions": collector.expansions,
        "random": random_state(collector.rng),
    }


def restore_collector(collector: Collector, state: Mapping[str, Any]) -> None:
    """Inverse of :func:`collector_state`; the number of instances must be the same."""
    restore_pools(collector, state)
    collector.episodes, collector.expansions = int(state["episodes"]), int(state["expansions"])
    set_random_state(collector.rng, state["random"])


def restore_pools(collector: Collector, state: Mapping[str, Any]) -> None:
    """Only the pools and the success of the weights: what search workers share."""
    records = [Record(**{**record, "status": Status(record["status"])}) for record in state["records"]]
    if len(records) != len(collector.instances):
        raise KeyError("records")
    collector.pools.records = records
    collector.choice.success = {float(weight): float(rate) for weight, rate in state["success"]}


def random_state(rng: random.Random) -> list[Any]:
    """The state of a generator, as JSON takes it."""
    version, numbers, gauss = rng.getstate()
    return [version, list(numbers), gauss]


def set_random_state(rng: random.Random, state: list[Any]) -> None:
    """Inverse of :func:`random_state`."""
    version, numbers, gauss = state
    rng.setstate((version, tuple(numbers), gauss))
