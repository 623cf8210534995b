"""Pages of one HTML file, with data, style and script inside: nothing is loaded, and nothing else runs."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any


def content_policy(style: str, script: str) -> str:
    """The policy that allows this inline style and script and no other, whatever the data contains."""
    return (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def script_data(data: Any) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c")
