"""Pictures of plans: states of grid puzzles and of the competitions' grid domains, in a terminal and as a page."""

from gsp_fd.picture.frames import Film, film

__all__ = ["Film", "film"]
