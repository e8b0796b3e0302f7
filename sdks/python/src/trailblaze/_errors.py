from __future__ import annotations


class TrailblazeError(Exception):
    """An error of a call to another tool. ``tool`` is its name, and ``reason`` the reason without the name."""

    def __init__(self, message: str, tool: str, reason: str) -> None:
        super().__init__(message)
        self.tool = tool
        self.reason = reason


class TrailblazeToolError(TrailblazeError):
    """The tool was called and failed. ``reason`` is its error text."""

    def __init__(self, tool: str, reason: str) -> None:
        named = reason.startswith(f"{tool}: ") or f'"{tool}"' in reason
        super().__init__(reason if named else f"{tool}: {reason}", tool, reason)


class TrailblazeCallbackError(TrailblazeError):
    """The call did not reach the tool, or its response was not received. The tool may have run."""

    def __init__(self, tool: str, reason: str) -> None:
        super().__init__(f"cannot call {tool}: {reason}", tool, reason)
