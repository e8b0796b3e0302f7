"""A server of tools that are functions: their names, docstrings and type hints become tools and schemas."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import inspect
import os
import sys
import threading
import traceback
import typing
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Sequence, Tuple, TypeVar, Union, overload

from ._client import TrailblazeClient
from ._errors import TrailblazeError
from ._results import error, success
from ._schema import ArgumentError, Field, Hint, hint_of, json_default, object_of
from ._serve import Message, Send, error_response, serve_connections

F = TypeVar("F", bound=Callable[..., Any])

# The supported versions of MCP, the newest first. A client that requests another version gets the newest.
_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
_METHOD_NOT_FOUND, _INVALID_PARAMS = -32601, -32602
_META = (
    "supportedDrivers supportedPlatforms requiresHost requiresContext isForLlm isRecordable isDelegating toolset timeoutMs"
).split()


class Context:
    """A call of a tool. A function gets it in a parameter that is annotated with this class."""

    def __init__(self, client: TrailblazeClient, progress: Callable[[str], None], cancelled: threading.Event) -> None:
        self.client = client
        self._progress = progress
        self._cancelled = cancelled

    def progress(self, message: str) -> None:
        """Sends a progress message, which restarts the time limit of the call."""
        self._progress(message)

    @property
    def cancelled(self) -> bool:
        """Whether the call was cancelled, because it exceeded its limit or its session ends. Its result is not sent then."""
        return self._cancelled.is_set()

    def sleep(self, seconds: float) -> bool:
        """Waits, and returns early if the call is cancelled. Returns whether it was not cancelled."""
        return not self._cancelled.wait(seconds)


class _Tool(NamedTuple):
    function: Callable[..., Any]
    arguments: Hint
    injected: Dict[str, type]  # parameters that get a Context or a TrailblazeClient
    listed: Dict[str, Any]


class _Call:
    """A pending call."""

    def __init__(self) -> None:
        self.cancelled = threading.Event()
        self._lock = threading.Lock()
        self._stop: Optional[Callable[[], object]] = None

    def on_cancel(self, stop: Optional[Callable[[], object]]) -> None:
        """Sets a function that is called when the call is cancelled, at once if it was."""
        with self._lock:
            self._stop = stop
            if stop and self.cancelled.is_set():
                stop()

    def cancel(self) -> None:
        with self._lock:
            self.cancelled.set()
            if self._stop:
                self._stop()


class Server:
    """A server of tools.

    ::

        server = Server("users")

        @server.tool
        def signUp(plan: Literal["free", "paid"], client: TrailblazeClient) -> str:
            "Signs a user up."
            user = client.call_tool("generateTestUser", {"plan": plan}).json()
            return f"signed up {user['email']}"

        server.run()

    A function may be ``async``. Calls run at the same time, each in its own thread.
    """

    def __init__(self, name: str = "trailblaze-python", version: str = "0.0.0") -> None:
        self._info = {"name": name, "version": version}
        self._tools: Dict[str, _Tool] = {}
        self._pending: Dict[Tuple[str, Any], _Call] = {}  # by connection and id of the request
        self._lock = threading.Lock()

    @overload
    def tool(self, function: F) -> F: ...
    @overload
    def tool(
        self, *, name: Optional[str] = None, description: Optional[str] = None, meta: Optional[Mapping[str, Any]] = None
    ) -> Callable[[F], F]: ...
    def tool(
        self,
        function: Optional[F] = None,
        *,
        name: Optional[str] = None,
        description: Optional[str] = None,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> Union[F, Callable[[F], F]]:
        """Registers a function as a tool. The function itself stays as it is, so that tests can call it.

        ``name`` is the function's name and ``description`` its docstring unless they are given. Parameters become arguments:
        ``Annotated[str, "…"]`` describes one, and a default makes it optional. A parameter annotated with TrailblazeClient or
        Context gets that of the call. ``meta`` has the keys of the TypeScript package, such as ``{"toolset": "users"}``.

        What the function returns becomes the result: a text unchanged, a dict or dataclass as JSON and structured content, a
        result of ``success``, ``error``, ``fatal_error`` or ``delegate`` unchanged. What it raises becomes an error result.
        A return type that is a dataclass or TypedDict becomes the output schema.

        Raises TypeError for a parameter without a type hint that has a JSON Schema, and for an unknown key of ``meta``.
        Raises ValueError for a name that is in use.
        """

        def register(f: F) -> F:
            tool = _describe(f, name or f.__name__, description, meta or {})
            if tool.listed["name"] in self._tools:
                raise ValueError(f"tool {tool.listed['name']} is defined twice")
            self._tools[tool.listed["name"]] = tool
            return f

        return register if function is None else register(function)

    def run(self, argv: Optional[Sequence[str]] = None) -> None:
        """Serves the tools over stdio, or over HTTP if the program's arguments select it. Returns at the end of stdin."""
        serve_connections(self._receive, argv)

    def _receive(self, message: Message, connection: str, send: Send) -> Optional[Message]:
        method, params, id = message.get("method"), message.get("params") or {}, message.get("id")
        if method == "notifications/cancelled":
            with self._lock:
                call = self._pending.get((connection, params.get("requestId")))
            if call:
                call.cancel()
        if "id" not in message or not isinstance(method, str):
            return None
        body: Message = {"jsonrpc": "2.0", "id": id}
        if method == "tools/call":
            if not isinstance(params.get("name"), str) or params["name"] not in self._tools:
                return error_response(id, _INVALID_PARAMS, f"unknown tool {params.get('name')}")
            result = self._call(params, (connection, id), send)
            return None if result is None else {**body, "result": result}
        if method == "initialize":
            asked = params.get("protocolVersion")
            version = asked if asked in _VERSIONS else _VERSIONS[0]
            return {**body, "result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": self._info}}
        if method == "tools/list":
            return {**body, "result": {"tools": [tool.listed for tool in self._tools.values()]}}
        if method == "ping":
            return {**body, "result": {}}
        return error_response(id, _METHOD_NOT_FOUND, f"unknown method {method}")

    def _call(self, params: Mapping[str, Any], key: Tuple[str, Any], send: Send) -> Optional[Dict[str, Any]]:
        """Returns the result of a call, None if it was cancelled."""
        call = _Call()
        with self._lock:
            self._pending[key] = call
        try:
            result = _run(self._tools[params["name"]], params, call, send)
            return None if call.cancelled.is_set() else result
        finally:
            with self._lock:
                del self._pending[key]


def _describe(function: Callable[..., Any], name: str, description: Optional[str], meta: Mapping[str, Any]) -> _Tool:
    for key in meta:
        if key not in _META:
            raise TypeError(f"tool {name}: meta {key!r} is unknown; known are {', '.join(_META)}")
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except NameError as e:
        raise TypeError(f"tool {name}: a type hint is not defined at run time: {e}; import it outside of TYPE_CHECKING") from e
    fields, injected = {}, {}
    for parameter in inspect.signature(function).parameters.values():
        where = f"tool {name}: parameter {parameter.name}"
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise TypeError(f"{where} cannot be an argument; use parameters that can be passed by name")
        if parameter.name not in hints:
            raise TypeError(f"{where} has no type hint")
        hint = hints[parameter.name]
        if isinstance(hint, type) and issubclass(hint, (TrailblazeClient, Context)):
            injected[parameter.name] = hint
        else:
            fields[parameter.name] = _field(where, hint, parameter)
    arguments = object_of(fields)
    text = inspect.getdoc(function) if description is None else description
    listed: Dict[str, Any] = {"name": name, "inputSchema": arguments.schema}
    if text:
        listed["description"] = text
    output = _output_schema(hints.get("return"))
    if output:
        listed["outputSchema"] = output
    if meta:
        listed["_meta"] = {f"trailblaze/{key}": value for key, value in meta.items()}
    return _Tool(function, arguments, injected, listed)


def _field(where: str, hint: Any, parameter: inspect.Parameter) -> Field:
    try:
        meaning = hint_of(hint)
    except TypeError as e:
        raise TypeError(f"{where}: {e}") from None
    if parameter.default is parameter.empty:
        return Field(meaning, True)
    return Field(meaning, False, json_default(parameter.default))


def _output_schema(hint: Any) -> Optional[Dict[str, Any]]:
    """Returns the schema of a function's results if they are always objects with known fields."""
    try:
        schema = hint_of(hint).schema
    except TypeError:
        return None
    return schema if "properties" in schema else None


def _run(tool: _Tool, params: Mapping[str, Any], call: _Call, send: Send) -> Dict[str, Any]:
    """Calls the function of a tool and returns the result, whatever happens."""
    meta = params.get("_meta") or {}
    client = TrailblazeClient.from_meta(meta)
    context = Context(client, _progress(meta.get("progressToken"), send), call.cancelled)
    name = tool.listed["name"]
    try:
        given = {key: value for key, value in (params.get("arguments") or {}).items() if key != "_trailblazeContext"}
        arguments = tool.arguments.read(given, "")
        for parameter, kind in tool.injected.items():
            arguments[parameter] = context if issubclass(kind, Context) else client
        returned = tool.function(**arguments)
        if inspect.isawaitable(returned):
            returned = _await(name, returned, call)
        return _result(returned, client)
    except ArgumentError as e:
        return error(str(e))
    except asyncio.CancelledError:
        return error("the call was cancelled")
    except BaseException as e:  # sys.exit, too, must not leave the call without a result
        print(f"{name} failed:\n{traceback.format_exc()}", end="", file=sys.stderr)
        at = _raised_at(e)
        return {**error(_message(name, e)), **({"_meta": {"trailblaze": {"thrownAt": at}}} if at else {})}


def _raised_at(e: BaseException) -> Optional[str]:
    """Returns file and line of the innermost frame that is in neither a package nor the standard library, else None."""
    outside = (os.path.dirname(__file__), os.path.dirname(os.__file__))
    at = None
    for frame, line in traceback.walk_tb(e.__traceback__):
        file = frame.f_code.co_filename
        if os.path.exists(file) and not file.startswith(outside) and "-packages" + os.sep not in file:
            at = f"{os.path.abspath(file)}:{line}"
    return at


def _message(name: str, e: BaseException) -> str:
    """Returns the message of an exception that a tool raised. The name says which tool made the call that failed."""
    if isinstance(e, TrailblazeError):
        return f"{name}: {e}"
    if isinstance(e, (KeyError, SystemExit)) and str(e):  # its text is only the key, or the exit code
        return f"{type(e).__name__}: {e}"
    return str(e) or type(e).__name__


def _progress(token: Any, send: Send) -> Callable[[str], None]:
    """Returns a function that sends progress messages, or does nothing if the client did not request them."""
    lock, count = threading.Lock(), 0

    def progress(message: str) -> None:
        nonlocal count
        if token is None:
            return
        with lock, contextlib.suppress(OSError):  # a client that has disconnected does not matter to the tool
            count += 1
            params = {"progressToken": token, "progress": count, "message": message}
            send({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})

    return progress


def _await(name: str, returned: Any, call: _Call) -> Any:
    """Runs a coroutine on an event loop of its own, and reports what it started and did not await."""

    async def main() -> Any:
        loop, task = asyncio.get_running_loop(), asyncio.ensure_future(returned)
        loop.set_exception_handler(lambda _, context: _report(name, context))
        call.on_cancel(lambda: loop.call_soon_threadsafe(task.cancel))
        try:
            return await task
        finally:
            call.on_cancel(None)
            for other in asyncio.all_tasks() - {asyncio.current_task()}:
                print(f"trailblaze: {name} returned before a task that it started was done: await {other!r}", file=sys.stderr)

    return asyncio.run(main())


def _report(name: str, context: Mapping[str, Any]) -> None:
    """Logs an exception that nothing awaited, such as that of a failed call of another tool."""
    thrown = context.get("exception")
    what = f"{type(thrown).__name__}: {thrown}" if thrown else context.get("message")
    called = f"{thrown.tool} was called without await" if isinstance(thrown, TrailblazeError) else "a task was not awaited"
    print(f"trailblaze: {name}: {called}: write await client.call_tool_async(…), or await the task; {what}", file=sys.stderr)


def _result(returned: Any, client: TrailblazeClient) -> Dict[str, Any]:
    """Returns what a function returned as a result of MCP, with the changes of memory."""
    if dataclasses.is_dataclass(returned) and not isinstance(returned, type):
        returned = dataclasses.asdict(returned)
    is_result = isinstance(returned, dict) and isinstance(returned.get("content"), list)
    result: Dict[str, Any] = returned if is_result else success(returned)
    changes = client.result_meta()
    if not changes or result.get("isError"):
        return result
    meta = dict(result.get("_meta") or {})
    return {**result, "_meta": {**meta, "trailblaze": {**(meta.get("trailblaze") or {}), **changes["trailblaze"]}}}
