from __future__ import annotations


class TrailblazeError(Exception):
    """Whatever went wrong with a call to another tool."""

    def __init__(self, message: str, tool: str, reason: str) -> None:
        super().__init__(message)
        self.tool = tool
        self.reason = reason


class TrailblazeToolError(TrailblazeError):
    """The tool was called and said no; ``reason`` has its words."""

    def __init__(self, tool: str, reason: str) -> None:
        named = reason.startswith(f"{tool}: ") or f'"{tool}"' in reason
        super().__init__(reason if named else f"{tool}: {reason}", tool, reason)


class TrailblazeCallbackError(TrailblazeError):
    """The call did not get through to the tool, or its answer did not get back."""

    def __init__(self, tool: str, reason: str) -> None:
        super().__init__(f"cannot call {tool}: {reason}", tool, reason)
