from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Generic, Optional, TypeVar

from ._errors import TrailblazeError

T = TypeVar("T")


@dataclass(frozen=True)
class Result(Generic[T]):
    """The result of a tool. ``T`` is the type of its structured content."""

    tool: str
    text: str  # the first text, "" without one
    structured: Optional[T] = None  # the structured content, None without one

    def json(self) -> T:
        """Returns the structured content, else the text parsed as JSON. Raises TrailblazeError if the text is not JSON."""
        if self.structured is not None:
            return self.structured
        try:
            parsed: T = json.loads(self.text)
        except ValueError as e:
            reason = f"it did not answer with JSON but with {excerpt(self.text)}"
            raise TrailblazeError(f"{self.tool}: {reason}", self.tool, reason) from e
        return parsed


def excerpt(text: str) -> str:
    return json.dumps(text.strip()[:200], ensure_ascii=False)
