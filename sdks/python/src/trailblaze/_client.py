from __future__ import annotations

import asyncio
import http.client
import json
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional, Tuple
from urllib.parse import urlsplit

from ._errors import TrailblazeCallbackError, TrailblazeError, TrailblazeToolError
from ._memory import Memory, split

# What this package speaks. trailblaze answers another version with an error that says which side to upgrade.
_PROTOCOL = 1
# Seconds: trailblaze's own limit is 30 unless set, and its answer takes a moment to arrive.
_DEFAULT_TIMEOUT = 32.0
# trailblaze's limit. It answers 413 above it, which a client that is still sending does not always get to read.
_MAX_BODY_BYTES = 1 << 20


@dataclass(frozen=True)
class Result:
    """What a tool answered."""

    tool: str
    text: str
    structured: Any = None  # None when it gave none

    def json(self) -> Any:
        """The structured content, or else the text read as JSON."""
        if self.structured is not None:
            return self.structured
        try:
            return json.loads(self.text)
        except ValueError as e:
            reason = f"it did not answer with JSON but with {_excerpt(self.text)}"
            raise TrailblazeError(f"{self.tool}: {reason}", self.tool, reason) from e


class TrailblazeClient:
    """Calls the other tools of the session that a tool call belongs to. Make one for each call of your tool.

    Outside a session, in any other MCP client, ``session_id`` is None, memory is empty and ``call_tool`` raises.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        """Use ``from_context`` or ``from_meta``; ``given`` is what stands under ``trailblaze`` in a request's ``_meta``."""
        in_session = isinstance(given.get("sessionId"), str)
        self._given = given if in_session else {}
        self.memory = Memory(self._given.get("memory") or {})

    @classmethod
    def from_context(cls, ctx: Any) -> TrailblazeClient:
        """The client for a call, from FastMCP's Context, a low-level server's request context, or anything with ``meta``."""
        return cls.from_meta(_meta_of(ctx))

    @classmethod
    def from_meta(cls, meta: Any) -> TrailblazeClient:
        """The client for a call, from the request's ``_meta``: a dict, or the MCP SDK's model of it, or None."""
        given = _look(meta, "trailblaze")
        return cls(given if isinstance(given, Mapping) else {})

    @property
    def session_id(self) -> Optional[str]:
        return self._given.get("sessionId")

    @property
    def device(self) -> Optional[Mapping[str, Any]]:
        """platform (lower case), widthPixels, heightPixels (0 when unknown), driverType; deviceId and deviceName when known."""
        return self._given.get("device")

    @property
    def target(self) -> Optional[Mapping[str, Any]]:
        """id, displayName, appIds, appId of the app under test; None when there is none."""
        return self._given.get("target")

    def call_tool(self, name: str, args: Optional[Mapping[str, Any]] = None) -> Result:
        """Calls a tool of the session and waits for it. Raises TrailblazeToolError if the tool says no, TrailblazeCallbackError
        if the call did not get through."""
        base = self._given.get("baseUrl")
        if self.session_id is None:
            raise TrailblazeCallbackError(
                name, "this call was not made by a trailblaze session, so there are no other tools to call"
            )
        if not base:
            raise TrailblazeCallbackError(name, "the session has no callback server; is this trailblaze up to date?")
        changes = self.memory._pending()
        status, text = _post(name, str(base), self._request(name, args or {}, changes))
        result = _read(name, status, text)
        self.memory._told(changes)
        self.memory._learn(result.get("memory_delta") or {}, result.get("memory_deletions") or [])
        if not result["success"]:
            raise TrailblazeToolError(name, result.get("error_message") or "it failed and did not say why")
        return Result(name, result.get("text_content") or "", result.get("structured_content"))

    async def call_tool_async(self, name: str, args: Optional[Mapping[str, Any]] = None) -> Result:
        """The same in a thread, for code on an event loop, which has to go on meanwhile."""
        # A thread of its own: in a shared pool, tools of one server that call each other could wait for each other's threads.
        thread = ThreadPoolExecutor(1, "trailblaze-call")
        try:
            return await asyncio.get_running_loop().run_in_executor(thread, self.call_tool, name, args)
        finally:
            thread.shutdown(wait=False)

    def result_meta(self) -> Dict[str, Any]:
        """What the result's ``_meta`` has to carry for the session to learn the changes of memory; empty when it knows them."""
        delta, deletions = split(self.memory._pending())
        notes: Dict[str, Any] = {}
        if delta:
            notes["memoryDelta"] = delta
        if deletions:
            notes["memoryDeletions"] = deletions
        return {"trailblaze": notes} if notes else {}

    def _request(self, name: str, args: Mapping[str, Any], changes: Mapping[str, Optional[str]]) -> bytes:
        action: Dict[str, Any] = {"type": "call_tool", "tool_name": name, "arguments_json": _dump(dict(args))}
        delta, deletions = split(changes)
        if delta:
            action["memory_delta"] = delta
        if deletions:
            action["memory_deletions"] = deletions
        request = {
            "version": _PROTOCOL,
            "session_id": self.session_id,
            "invocation_id": self._given.get("invocationId"),
            "action": action,
        }
        # Half a surrogate pair has no UTF-8, but a JSON escape.
        return _dump(request).encode("utf-8", "backslashreplace")


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _excerpt(text: str) -> str:
    return json.dumps(text.strip()[:200], ensure_ascii=False)


def _look(place: Any, name: str) -> Any:
    """What a dict, a pydantic model with extra fields, or any object has under a name."""
    if isinstance(place, Mapping):
        return place.get(name)
    extra = getattr(place, "model_extra", None)
    if isinstance(extra, Mapping) and name in extra:
        return extra[name]
    return getattr(place, name, None)


def _meta_of(ctx: Any) -> Any:
    try:
        inner = _look(ctx, "request_context")
    except (ValueError, LookupError):  # the MCP SDK says so that there is no request
        return None
    place = ctx if inner is None else inner
    meta = _look(place, "meta")
    return _look(place, "_meta") if meta is None else meta


def _post(tool: str, base: str, body: bytes) -> Tuple[int, str]:
    """Sends a request. http.client knows no proxies and follows no redirects, as it should be here."""
    if len(body) > _MAX_BODY_BYTES:
        raise TrailblazeCallbackError(
            tool, f"the request has {len(body)} bytes, at most {_MAX_BODY_BYTES} are allowed; hand over a file's path"
        )
    headers = {"Content-Type": "application/json"}
    token = os.environ.get("TRAILBLAZE_SESSION_TOKEN")
    if token:
        headers["Authorization"] = f"Bearer {token}"
    limit = _timeout()
    try:
        url = urlsplit(base)
        if url.scheme != "http" or not url.hostname:
            raise ValueError("it is no http URL")
        connection = http.client.HTTPConnection(url.hostname, url.port, timeout=limit)
        try:
            connection.request("POST", url.path.rstrip("/") + "/scripting/callback", body, headers)
            response = connection.getresponse()
            return response.status, response.read().decode("utf-8", "replace")
        finally:
            connection.close()
    except socket.timeout as e:  # an OSError too; TimeoutError since Python 3.10
        raise TrailblazeCallbackError(
            tool,
            f"no answer within {limit:g} s; it may or may not have run; callbackTimeout in the server's entry changes the limit",
        ) from e
    except (OSError, http.client.HTTPException, ValueError) as e:
        raise TrailblazeCallbackError(tool, f"{base} does not answer ({e or type(e).__name__}); the session may be over") from e


def _timeout() -> float:
    try:
        seconds = float(os.environ["TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS"]) / 1000
    except (KeyError, ValueError):
        return _DEFAULT_TIMEOUT
    return seconds if 0 < seconds < float("inf") else _DEFAULT_TIMEOUT


def _read(tool: str, status: int, text: str) -> Dict[str, Any]:
    """The call_tool_result in an answer."""
    if status != 200:
        raise TrailblazeCallbackError(tool, f"refused with status {status}: {_excerpt(text)}")
    try:
        answer = json.loads(text)
    except ValueError:
        answer = None
    result = answer.get("result") if isinstance(answer, dict) else None
    kind = result.get("type") if isinstance(result, dict) else None
    if kind == "error":
        raise TrailblazeCallbackError(tool, str(result.get("message")))
    if kind != "call_tool_result" or not isinstance(result.get("success"), bool):
        raise TrailblazeCallbackError(
            tool,
            "the answer is of an unknown kind; this package speaks version "
            f"{_PROTOCOL} of the protocol, upgrade it if trailblaze is newer: {_excerpt(text)}",
        )
    return result
