"""A server whose tools are functions, for the tests."""

from __future__ import annotations

import asyncio
import enum
import sys
from dataclasses import dataclass, field
from typing import Annotated, Dict, List, Literal, Optional, TypedDict, Union

from trailblaze import Context, Server, TrailblazeClient, delegate, error
from trailblaze_tools import Client

server = Server("functions", "1.2.3")


class Plan(enum.Enum):
    FREE = "free"
    PAID = "paid"


class Share(enum.Enum):
    HALF = 0.5
    ALL = 1.0


@dataclass
class Address:
    street: str
    city: str = "Springfield"


class Item(TypedDict, total=False):
    sku: str
    count: int


@dataclass
class User:
    email: str
    addresses: List[Address] = field(default_factory=list)


@server.tool
def signUp(
    email: Annotated[str, "The address to write to"],
    plan: Plan,
    client: Client,
    address: Optional[Address] = None,
    items: Union[List[Item], None] = None,
    labels: Dict[str, float] = {},
    mode: Literal["fast", "slow"] = "fast",
    seats: int = 1,
    share: Share = Share.ALL,
) -> User:
    """Signs a user up.

    The address may be left out.
    """
    client.memory.set("plan", plan.value)
    client.memory.set("seen", [plan.name, items, labels, mode, seats])
    return User(email, [] if address is None else [address])


@server.tool(name="cart.add", description="Adds to the cart.", meta={"toolset": "cart", "timeoutMs": 1000})
def add(sku: str) -> Dict[str, str]:
    return {"sku": sku}


@server.tool
async def greet(name: str, client: TrailblazeClient) -> str:
    return (await client.tools_async.greet(name=name)).text + client.tools.greet(name=name).text


@server.tool
def wait(context: Context) -> str:
    """Waits until it is cancelled."""
    context.progress("started")
    while context.sleep(60):
        pass
    print("wait was cancelled", file=sys.stderr, flush=True)
    return "never sent"


@server.tool
async def waitOnLoop(context: Context) -> None:
    context.progress("started")
    try:
        await asyncio.Event().wait()
    finally:
        print("waitOnLoop was cancelled", file=sys.stderr, flush=True)


@server.tool
async def forgets(client: TrailblazeClient) -> str:
    """Does not await calls: one that fails, one that is not sent, one that is still pending."""
    failing = asyncio.ensure_future(client.call_tool_async("findUser"))
    while not failing.done():
        await asyncio.sleep(0)
    del failing
    client.call_tool_async("neverSent")
    asyncio.ensure_future(asyncio.Event().wait())
    await asyncio.sleep(0)
    return "done"


@server.tool
def fails(
    how: Literal["raise", "key", "empty", "call", "error", "delegate", "nothing", "exit", "not JSON"], client: TrailblazeClient
) -> Optional[dict]:
    if how == "raise":
        raise RuntimeError("broken")
    if how == "key":
        return {}["greeting"]
    if how == "empty":
        raise ValueError
    if how == "call":
        client.tools.greet(nam="Ada")
    if how == "error":
        return error("declined")
    if how == "exit":
        sys.exit("no backend")
    if how == "not JSON":
        return {"content": [], "structuredContent": {"total": float("nan")}}
    if how == "delegate":
        return delegate([{"tool": "tap", "args": {"text": "OK"}}])
    return None


if __name__ == "__main__":
    server.run()
