"""Lift: Miconic with conditional effects for all passengers at once."""

from __future__ import annotations

from gsp_fd.generate import miconic
from gsp_fd.generate.base import Generator, domain_file

GENERATOR = Generator(
    lambda: domain_file("lift"), miconic.instance, "passengers + floors", smallest=3, training=(3, 30), largest=681
)
