"""Nothing here runs: pyright reads it, with the stub that pkg/typings wrote. Lines with an ignore comment have to be errors."""

from dataclasses import dataclass
from typing import Any

from trailblaze import Context, Result, Server, TrailblazeClient
from trailblaze.wire import CallbackRequest, CallMeta
from trailblaze_tools import Client
from typing_extensions import assert_type


def right(client: Client) -> None:
    client.tools.tap(text="OK")
    client.tools.tap(text="OK", index=1)
    client.call_tool("tap", {"text": "OK"})
    client.tools.scroll(pixels=10)
    client.tools.scroll(direction="up")
    reply = client.tools.signUp(
        plan="free",
        address={"street": "Main Street", "city": "Springfield"},
        seats=None,
        tags=["a", 1],
        labels={"a": "b"},
        position=[1, 2],
        consent=True,
        anything={"deep": [1]},
        level=2.5,
    )
    assert_type(reply.json()["email"], str)
    assert_type(reply.json()["invoices"][0]["total"], float)
    assert_type(client.tools.tap(text="OK"), Result[Any])
    client.tools.select(reason="r", id="a")
    client.tools.select(reason="r", label="a")
    client.tools.oneIsRequired(a="x")
    client.tools.combined(a="x", b=True)
    client.tools.open(a="x", other=1)
    client.tools.recursive(node={"name": "a", "children": [{"name": "b"}]})
    client.tools.none()
    client.tools.unknown(any=1)
    client.tools.remote(any=1)
    client.tools.hostile(**{"*/ x": "x", "self": "y"})
    client.call_tool("hostile", {"*/ x": "x", "class": "y", 'a"; import os #\n': '"""', "__proto__": "x"})
    client.call_tool("*/ }; x\n")
    client.call_tool("cart.add-item", {"sku": "1"})
    client.call_tool("none")
    untyped(client)


def untyped(client: TrailblazeClient) -> None:
    client.call_tool("anything", {"any": 1})


async def right_async(client: Client) -> None:
    assert_type((await client.tools_async.signUp(plan="free", address={"street": "a", "city": "b"})).json()["email"], str)
    await client.call_tool_async("tap", {"text": "OK"})
    await client.tools_async.tap(txt="OK")  # pyright: ignore[reportCallIssue]
    await client.call_tool_async("tip", {"text": "OK"})  # pyright: ignore[reportCallIssue, reportArgumentType]


def wrong(client: Client, any_name: str) -> None:
    client.tools.tip(text="OK")  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    client.call_tool("tip", {"text": "OK"})  # pyright: ignore[reportCallIssue, reportArgumentType]
    client.call_tool(any_name, {})  # pyright: ignore[reportCallIssue, reportArgumentType]
    client.tools.tap(txt="OK")  # pyright: ignore[reportCallIssue]
    client.tools.tap(text="OK", idx=1)  # pyright: ignore[reportCallIssue]
    client.call_tool("tap", {"text": "OK", "idx": 1})  # pyright: ignore[reportCallIssue, reportArgumentType]
    client.tools.tap()  # pyright: ignore[reportCallIssue]
    client.call_tool("tap")  # pyright: ignore[reportCallIssue, reportArgumentType]
    client.tools.tap(text=1)  # pyright: ignore[reportArgumentType]
    client.tools.scroll(direction="left")  # pyright: ignore[reportArgumentType]
    client.tools.scroll(speed=1)  # pyright: ignore[reportCallIssue]
    client.tools.signUp(plan="gold", address={"street": "a", "city": "b"})  # pyright: ignore[reportArgumentType]
    client.tools.signUp(plan="free", address={"street": "a"})  # pyright: ignore[reportArgumentType]
    client.tools.signUp(plan="free", address={"street": "a", "city": "b"}, tags=[b"x"])  # pyright: ignore[reportArgumentType]
    client.tools.signUp(plan="free", address={"street": "a", "city": "b"}, consent=False)  # pyright: ignore[reportArgumentType]
    client.tools.select(reason="r")  # pyright: ignore[reportCallIssue]
    client.tools.combined(a="x")  # pyright: ignore[reportCallIssue]
    client.tools.none(a=1)  # pyright: ignore[reportCallIssue]
    client.tools.signUp(plan="free", address={"street": "a", "city": "b"}).json()["mail"]  # pyright: ignore[reportGeneralTypeIssues]


@dataclass
class User:
    email: str


server = Server("users")


@server.tool
def make_user(plan: str, client: Client) -> User:
    return User(client.tools.signUp(plan="free", address={"street": plan, "city": "b"}).json()["email"])


@server.tool(name="later", meta={"toolset": "users"})
async def wait_for_user(context: Context, seconds: float = 1) -> str:
    context.progress("waiting")
    return make_user("pro", Client.from_meta(None)).email + str(seconds)


request: CallbackRequest = {
    "version": 1, "session_id": "s", "invocation_id": "i",
    "action": {"type": "call_tool", "tool_name": "tap", "arguments_json": "{}"},
}
request["action"]["tool"]  # pyright: ignore[reportGeneralTypeIssues]
meta: CallMeta = {"sessionId": "s", "device": {"platform": "web"}}
