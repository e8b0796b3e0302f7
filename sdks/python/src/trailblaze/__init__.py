"""Call a trailblaze session's other tools from a tool written in Python.

It works with any MCP server: hand the request's context to ``TrailblazeClient.from_context``, or its ``_meta`` to
``TrailblazeClient.from_meta``. ``serve`` serves tools that are written without an MCP SDK, for one device or for several.
There are no dependencies, and everything may be used from several threads at once.
"""

from ._client import Result, TrailblazeClient
from ._errors import TrailblazeCallbackError, TrailblazeError, TrailblazeToolError
from ._memory import Memory
from ._results import delegate, error, fatal_error, success
from ._serve import Transport, end_with_stdin, serve, transport

__all__ = [
    "Memory",
    "Result",
    "Transport",
    "TrailblazeCallbackError",
    "TrailblazeClient",
    "TrailblazeError",
    "TrailblazeToolError",
    "delegate",
    "end_with_stdin",
    "error",
    "fatal_error",
    "serve",
    "success",
    "transport",
]
