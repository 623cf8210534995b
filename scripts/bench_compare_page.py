"""Seconds until Chromium has drawn the page of a comparison with many results, from the start of loading; median of 3.

    python scripts/bench_compare_page.py [--results 10000] [--repeat 3]

The records are made up; the aim is less than 2 seconds for 10,000.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from gsp_fd.compare.comparison import Comparison
from gsp_fd.compare.page import render

sys.path.append(str(Path(__file__).parents[1] / "tests"))
import chromium
import compare_records


def main() -> None:
    """Prints the median, and each measurement beside it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=int, default=10000, help="results on the page (10000)")
    parser.add_argument("--repeat", type=int, default=3, help="measurements, each in a fresh Chromium (3)")
    options = parser.parse_args()
    program = chromium.executable()
    if program is None:
        sys.exit("bench_compare_page.py: there is no Chromium on this machine")
    groups = len(compare_records.DOMAINS) * len(compare_records.SPLITS) * len(compare_records.CONFIGURATIONS)
    results = compare_records.results(-(-options.results // groups))[: options.results]
    start = time.perf_counter()
    text = render(Comparison([compare_records.header()], results))
    print(
        f"{len(results)} results, {len(text.encode()) / 1e6:.1f} MB of HTML made in {time.perf_counter() - start:.2f} s"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(text, encoding="utf-8")
        seconds = [measure(program, path) for _ in range(options.repeat)]
    print(f"drawn after {statistics.median(seconds):.2f} s (median of {', '.join(f'{s:.2f}' for s in seconds)})")


def measure(program: str, path: Path) -> float:
    """Seconds from the start of loading until two frames after it, when all that the scripts made is drawn."""
    with chromium.open_page(program) as page:
        page.resize(1200, 900)
        page.open(path)
        return float(page.evaluate("performance.now()")) / 1000


if __name__ == "__main__":
    main()
