from __future__ import annotations

from typing import Any, Awaitable, Callable

from ._result import Result


class Tools:
    """The tools of a session as methods: ``tools.tap(text="OK")`` is ``client.call_tool("tap", {"text": "OK"})``.

    Every name is a method, also that of a tool that does not exist, whose call then raises.
    """

    def __init__(self, call: Callable[[str, Any], Result[Any]]) -> None:
        self.__call = call

    def __getattr__(self, name: str) -> Callable[..., Result[Any]]:
        if name.startswith("__"):  # Python itself looks for such names
            raise AttributeError(name)
        return lambda **args: self.__call(name, args)


class AsyncTools:
    """``Tools`` whose calls are awaited, for code on an event loop."""

    def __init__(self, call: Callable[[str, Any], Awaitable[Result[Any]]]) -> None:
        self.__call = call

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Result[Any]]]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda **args: self.__call(name, args)
