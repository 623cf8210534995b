"""gsp-fd: planning with learned heuristics behind Fast Downward's interface.

This room holds the planner: tasks from files, models, and what evaluates them. It never imports torch.
"""

from __future__ import annotations

__version__ = "0.1.0"
