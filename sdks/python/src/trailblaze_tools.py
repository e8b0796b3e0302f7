"""The client of a project's tools, ``Client``, for annotations.

``trailblaze types`` writes a stub of this module, ``trailblaze_tools.pyi``. With it, type checkers and editors know the
project's tools. Without it, ``Client`` is a ``TrailblazeClient``, whose tools have any names and arguments.
"""

from trailblaze import AsyncTools, Tools
from trailblaze import TrailblazeClient as Client

__all__ = ["AsyncTools", "Client", "Tools"]
