"""``python -m tests.fuzz``: mutated input for everything that reads input."""

import sys

from .campaign import campaign
from .targets import TARGETS

if __name__ == "__main__":
    sys.exit(campaign("mutated", "Mutated input for all that reads input from strangers.", TARGETS, default=1000))
