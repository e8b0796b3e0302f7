from __future__ import annotations

import json
from typing import Any


def dump(value: Any) -> str:
    """Returns a value as JSON. Raises ValueError for a number that JSON does not have, such as NaN."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def text_of(value: Any) -> str:
    """Returns a text unchanged, and another value as JSON."""
    return value if isinstance(value, str) else dump(value)


def encode(text: str) -> bytes:
    """Returns JSON in UTF-8. A lone surrogate has no UTF-8, so it becomes a JSON escape."""
    return text.encode("utf-8", "backslashreplace")
