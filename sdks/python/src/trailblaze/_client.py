from __future__ import annotations

import asyncio
import http.client
import json
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict, Mapping, Optional, Tuple, Type, TypeVar
from urllib.parse import urlsplit

from ._errors import TrailblazeCallbackError, TrailblazeToolError
from ._json import dump, encode
from ._memory import Memory, split
from ._result import Result, excerpt
from ._tools import AsyncTools, Tools
from .wire import CallbackRequest, CallToolAction

# The protocol version of this package. trailblaze rejects another version with an error that says which side to upgrade.
_PROTOCOL = 1
# In seconds: the default limit of trailblaze is 30, and its response needs some time to arrive.
_DEFAULT_TIMEOUT = 32.0
# The limit of trailblaze. We check it too, because a client that is still sending may not read the 413 response.
_MAX_BODY_BYTES = 1 << 20


C = TypeVar("C", bound="TrailblazeClient")


class TrailblazeClient:
    """Calls other tools of the session that a tool call belongs to. Create one client for each call of your tool.

    Outside a session, in another MCP client, ``session_id`` is None, the memory is empty and ``call_tool`` raises.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        """Use ``from_context`` or ``from_meta``. ``given`` is the value of ``trailblaze`` in the ``_meta`` of a request."""
        in_session = isinstance(given.get("sessionId"), str)
        self._given = given if in_session else {}
        self.memory = Memory(self._given.get("memory") or {})

    @classmethod
    def from_context(cls: Type[C], ctx: Any) -> C:
        """Returns the client of a call, from FastMCP's Context, a request context, or an object with ``meta``."""
        return cls.from_meta(_meta_of(ctx))

    @classmethod
    def from_meta(cls: Type[C], meta: Any) -> C:
        """Returns the client of a call, from the ``_meta`` of the request: a dict, the MCP SDK's model of it, or None."""
        given = _look(meta, "trailblaze")
        return cls(given if isinstance(given, Mapping) else {})

    @property
    def session_id(self) -> Optional[str]:
        """The id of the session; None outside a session."""
        return self._given.get("sessionId")

    @property
    def device(self) -> Optional[Mapping[str, Any]]:
        """platform (lower case), widthPixels, heightPixels (0 if unknown), driverType, and if known deviceId, deviceName."""
        return self._given.get("device")

    @property
    def target(self) -> Optional[Mapping[str, Any]]:
        """The app under test: id, displayName, appIds, appId, baseUrl (its address on the web). None if there is none."""
        return self._given.get("target")

    @property
    def tools(self) -> Tools:
        """The tools of the session as methods: ``client.tools.tap(text="OK")``. They do what ``call_tool`` does."""
        return Tools(self.call_tool)

    @property
    def tools_async(self) -> AsyncTools:
        """The same for code on an event loop: ``await client.tools_async.tap(text="OK")``."""
        return AsyncTools(self.call_tool_async)

    def call_tool(self, name: str, args: Optional[Mapping[str, Any]] = None) -> Result[Any]:
        """Calls a tool of the session and waits for its result. ``{{name}}`` in ``args`` is not replaced.

        Raises TrailblazeToolError if the tool fails, and TrailblazeCallbackError if the call does not reach the tool or its
        response is not received.
        """
        base = self._given.get("baseUrl")
        if self.session_id is None:
            raise TrailblazeCallbackError(
                name, "this call was not made by a trailblaze session, so it cannot call other tools"
            )
        if not base:
            raise TrailblazeCallbackError(name, "the session has no callback server; is this trailblaze up to date?")
        changes = self.memory._pending()
        status, text = _post(name, str(base), self._request(name, args or {}, changes))
        result = _read(name, status, text)
        self.memory._sent(changes)
        self.memory._apply(result.get("memory_delta") or {}, result.get("memory_deletions") or [])
        if not result["success"]:
            raise TrailblazeToolError(name, result.get("error_message") or "it failed without a reason")
        return Result(name, result.get("text_content") or "", result.get("structured_content"))

    async def call_tool_async(self, name: str, args: Optional[Mapping[str, Any]] = None) -> Result[Any]:
        """``call_tool`` in a thread, for code on an event loop."""
        # Each call has its own thread, because nested calls of one server could block each other in a shared pool.
        thread = ThreadPoolExecutor(1, "trailblaze-call")
        try:
            return await asyncio.get_running_loop().run_in_executor(thread, self.call_tool, name, args)
        finally:
            thread.shutdown(wait=False)

    def result_meta(self) -> Dict[str, Any]:
        """Returns the ``_meta`` for the result, with the changes of memory that were not sent yet; empty without changes."""
        delta, deletions = split(self.memory._pending())
        notes: Dict[str, Any] = {}
        if delta:
            notes["memoryDelta"] = delta
        if deletions:
            notes["memoryDeletions"] = deletions
        return {"trailblaze": notes} if notes else {}

    def _request(self, name: str, args: Mapping[str, Any], changes: Mapping[str, Optional[str]]) -> bytes:
        action: CallToolAction = {"type": "call_tool", "tool_name": name, "arguments_json": dump(dict(args))}
        delta, deletions = split(changes)
        if delta:
            action["memory_delta"] = delta
        if deletions:
            action["memory_deletions"] = deletions
        request: CallbackRequest = {
            "version": _PROTOCOL,
            "session_id": self.session_id,
            "invocation_id": self._given.get("invocationId"),
            "action": action,
        }
        return encode(dump(request))


def _look(place: Any, name: str) -> Any:
    """Returns the value of a name in a dict, a pydantic model or another object; None if it has none."""
    if isinstance(place, Mapping):
        return place.get(name)
    extra = getattr(place, "model_extra", None)
    if isinstance(extra, Mapping) and name in extra:
        return extra[name]
    return getattr(place, name, None)


def _meta_of(ctx: Any) -> Any:
    try:
        inner = _look(ctx, "request_context")
    except (ValueError, LookupError):  # raised by the MCP SDK if there is no request
        return None
    place = ctx if inner is None else inner
    meta = _look(place, "meta")
    return _look(place, "_meta") if meta is None else meta


def _post(tool: str, base: str, body: bytes) -> Tuple[int, str]:
    """Sends a request and returns status and text of the response. http.client uses no proxies, follows no redirects."""
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
            raise ValueError("it is not an http URL")
        connection = http.client.HTTPConnection(url.hostname, url.port, timeout=limit)
        try:
            connection.request("POST", url.path.rstrip("/") + "/scripting/callback", body, headers)
            response = connection.getresponse()
            return response.status, response.read().decode("utf-8", "replace")
        finally:
            connection.close()
    except socket.timeout as e:  # a subclass of OSError; TimeoutError since Python 3.10
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
    """Returns the call_tool_result in a response. Raises TrailblazeCallbackError if there is none."""
    if status != 200:
        raise TrailblazeCallbackError(tool, f"refused with status {status}: {excerpt(text)}")
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
            f"{_PROTOCOL} of the protocol, upgrade it if trailblaze is newer: {excerpt(text)}",
        )
    return result
