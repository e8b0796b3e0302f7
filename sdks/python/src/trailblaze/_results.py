from __future__ import annotations

from typing import Any, Dict, Iterable, Mapping, Optional

from ._json import text_of


def success(value: Any = None, meta: Optional[Mapping[str, Any]] = None) -> Dict[str, Any]:
    """Returns a successful MCP result: text unchanged, other values as JSON. A dict is also the structured content.

    ``meta`` is the ``_meta`` of the result, such as ``client.result_meta()``.
    """
    result = _text("" if value is None else text_of(value))
    if isinstance(value, dict):
        result["structuredContent"] = value
    if meta:
        result["_meta"] = dict(meta)
    return result


def error(message: str) -> Dict[str, Any]:
    """Returns an MCP error result. The trail fails with this message."""
    return {**_text(message), "isError": True}


def fatal_error(message: str) -> Dict[str, Any]:
    """Returns an MCP error result after which the session cannot continue. The trail ends as an error."""
    return {**error(message), "_meta": {"trailblaze": {"variant": "FatalError"}}}


def delegate(calls: Iterable[Mapping[str, Any]], meta: Optional[Mapping[str, Any]] = None) -> Dict[str, Any]:
    """Returns an MCP result that delegates: trailblaze makes these calls, in order, in place of this one.

    A call is a dict such as ``{"tool": "tap", "args": {"text": "OK"}}``. Raises TypeError for a call without a tool.
    """
    delegates = [dict(call) for call in calls]
    for i, call in enumerate(delegates, 1):
        if not isinstance(call.get("tool"), str):
            raise TypeError(f'delegate: call {i} names no tool, write {{"tool": "name", "args": {{}}}}')
    return success({"_trailblaze_delegates": delegates}, meta)


def _text(text: str) -> Dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}
