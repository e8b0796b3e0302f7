from __future__ import annotations

import json
from typing import Any, Dict, Iterable, Mapping, Optional


def success(value: Any = None, meta: Optional[Mapping[str, Any]] = None) -> Dict[str, Any]:
    """The MCP result of a tool that worked: text as it is, anything else as JSON, a dict also as structured content.

    ``meta`` is for ``client.result_meta()``.
    """
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, allow_nan=False)
    result = _text(text)
    if isinstance(value, dict):
        result["structuredContent"] = value
    if meta:
        result["_meta"] = dict(meta)
    return result


def error(message: str) -> Dict[str, Any]:
    """The MCP result of a tool that failed: the trail fails with this message."""
    return {**_text(message), "isError": True}


def fatal_error(message: str) -> Dict[str, Any]:
    """The MCP result of a tool after which nothing can go on: the trail ends as an error."""
    return {**error(message), "_meta": {"trailblaze": {"variant": "FatalError"}}}


def delegate(calls: Iterable[Mapping[str, Any]], meta: Optional[Mapping[str, Any]] = None) -> Dict[str, Any]:
    """The MCP result of a tool that leaves the work to trailblaze: calls like ``{"tool": "tap", "args": {"text": "OK"}}``."""
    delegates = [dict(call) for call in calls]
    for i, call in enumerate(delegates, 1):
        if not isinstance(call.get("tool"), str):
            raise TypeError(f'delegate: call {i} names no tool, write {{"tool": "name", "args": {{}}}}')
    return success({"_trailblaze_delegates": delegates}, meta)


def _text(text: str) -> Dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}
