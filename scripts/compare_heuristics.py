"""Configurations side by side on suites of problems: the program ``gsp-compare``, for those who have not installed it.

python scripts/compare_heuristics.py run examples/ferry --configurations gsp-policy,hff-wastar --out results
python scripts/compare_heuristics.py report results
"""

from __future__ import annotations

import sys

from gsp_fd.compare.cli import main

if __name__ == "__main__":
    sys.exit(main())
