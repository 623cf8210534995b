"""Seeded instance generators for the IPC 2023 learning domains, seven more and four puzzles: `gsp-generate`.

From outside, import `GENERATORS`, `domain_text`, `generate` and `generate_set`; the same arguments always
give the same bytes. `variants` makes other problems of given ones, in any domain: other goals, other starts.
"""

from gsp_fd.generate.base import Generator
from gsp_fd.generate.registry import DISTRIBUTIONS, GENERATORS, domain_text, generate, generate_set

__all__ = ["DISTRIBUTIONS", "GENERATORS", "Generator", "domain_text", "generate", "generate_set"]
