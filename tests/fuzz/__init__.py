"""The campaign against hostile and unlucky input: mutated files, random tasks, kills, full disks.

``python -m tests.fuzz`` reads mutated input, ``python -m tests.fuzz.differential`` compares with Fast Downward,
``python -m tests.fuzz.kills`` kills programs, ``python -m tests.fuzz.coverage`` lets libFuzzer look for input. Each
says with ``--help`` what it does. The tests make short runs of all but the last.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
if (_tests := str(ROOT / "tests")) not in sys.path:  # as pytest does, for what the tests share
    sys.path.insert(0, _tests)
