"""Call other tools of a trailblaze session from a tool written in Python.

The package works with any MCP server: pass the context of a request to ``TrailblazeClient.from_context``, or its ``_meta``
to ``TrailblazeClient.from_meta``. ``serve`` serves tools that are written without an MCP SDK, for one device or several.
The package has no dependencies and is thread-safe.
"""

from ._client import TrailblazeClient
from ._errors import TrailblazeCallbackError, TrailblazeError, TrailblazeToolError
from ._memory import Memory
from ._result import Result
from ._results import delegate, error, fatal_error, success
from ._serve import Transport, end_with_stdin, serve, transport
from ._server import Context, Server
from ._tools import AsyncTools, Tools

__all__ = [
    "AsyncTools",
    "Context",
    "Memory",
    "Result",
    "Server",
    "Tools",
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
