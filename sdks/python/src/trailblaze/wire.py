"""The types of the messages between trailblaze and a tool server. See docs/protocol.md of trailblaze."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, TypedDict, Union


class Device(TypedDict, total=False):
    """The device of a session. deviceId and deviceName are absent if it has none."""

    platform: str
    widthPixels: int
    heightPixels: int
    driverType: str
    deviceId: str
    deviceName: str


class Target(TypedDict, total=False):
    """The app under test."""

    id: str
    displayName: str
    appIds: List[str]
    appId: str
    baseUrl: str


class CallMeta(TypedDict, total=False):
    """``_meta.trailblaze`` of a ``tools/call`` that a session sends."""

    sessionId: str
    invocationId: str
    baseUrl: str
    device: Device
    target: Target
    memory: Dict[str, Any]


class CallToolAction(TypedDict, total=False):
    """A call of another tool. arguments_json is the text of a JSON object."""

    type: str
    tool_name: str
    arguments_json: str
    memory_delta: Dict[str, str]
    memory_deletions: List[str]


class CallbackRequest(TypedDict):
    """The body of ``POST /scripting/callback``."""

    version: int
    session_id: Optional[str]
    invocation_id: Optional[str]
    action: CallToolAction


class CallToolResult(TypedDict, total=False):
    """The result of a tool that was called. type is ``call_tool_result``."""

    type: str
    success: bool
    text_content: str
    error_message: str
    structured_content: Optional[Dict[str, Any]]
    memory_delta: Optional[Dict[str, Any]]
    memory_deletions: Optional[List[str]]


class CallbackError(TypedDict):
    """No tool was called. type is ``error``."""

    type: str
    message: str


class CallbackResponse(TypedDict):
    """The body of the response to a CallbackRequest."""

    result: Union[CallToolResult, CallbackError]
