"""A tool server without an MCP SDK, whose tools call others while they run. PYTHONPATH has to name the package's src.

``serve`` carries the messages, over stdio or over HTTP. Every call gets a thread, so that a tool may call its own server.
"""

import asyncio

from trailblaze import TrailblazeClient, TrailblazeToolError, delegate, error, serve, success


def greet(args, client):
    return success(f"hello {args['name']}")


def make_user(args, client):
    client.memory.set("made", len(client.memory.get("made", "")) + 1)
    user = {"email": f"{args['plan']}@example.com", "plan": args["plan"]}
    return success(user, client.result_meta())


def sign_up(args, client):
    """Calls its own server and a built-in tool; both see what it has put into memory."""
    client.memory.set("plan", args["plan"])
    client.memory.delete("obsolete")
    user = client.call_tool("makeUser", {"plan": args["plan"]}).json()
    client.call_tool("rememberValue", {"name": "welcome", "value": "Hello, Zoë {{plan}}"})
    seen = client.call_tool("dumpMemory").json()
    client.memory.set("email", user["email"])
    return success({"seen": seen, "welcome": client.memory["welcome"]}, client.result_meta())


async def greet_all(names, client):
    greetings = await asyncio.gather(*(client.call_tool_async("greet", {"name": name}) for name in names))
    return success(", ".join(result.text for result in greetings))


def insist(args, client):
    """Fails with the tool that it calls, unless it may go on."""
    try:
        client.call_tool("assertEquals", {"expected": 1, "actual": 2})
    except TrailblazeToolError as e:
        if not args["goOn"]:
            raise
        return success(e.reason)
    return error("1 equals 2")


def about(args, client):
    return success({"session": client.session_id is not None, "device": client.device, "target": client.target})


TOOLS = {
    "greet": (greet, {"name": {"type": "string"}}),
    "makeUser": (make_user, {"plan": {"type": "string"}}),
    "signUp": (sign_up, {"plan": {"type": "string"}}),
    "greetAll": (lambda args, client: asyncio.run(greet_all(args["names"], client)), {"names": {"type": "array"}}),
    "greetLater": (lambda args, client: delegate([{"tool": "greet", "args": {"name": "{{email}}"}}]), {}),
    "insist": (insist, {"goOn": {"type": "boolean"}}),
    "about": (about, {}),
}


def call(params):
    run, _ = TOOLS[params["name"]]
    try:
        return run(params["arguments"], TrailblazeClient.from_meta(params.get("_meta")))
    except Exception as e:  # whatever it is, the trail should fail with it
        return error(str(e))


def answer(message):
    if "id" not in message or "method" not in message:  # a notification wants no answer
        return None
    method, params = message["method"], message.get("params", {})
    body = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        version = params["protocolVersion"]
        info = {"name": "shop", "version": "1.0.0"}
        return {**body, "result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}}
    if method == "tools/list":
        return {**body, "result": {"tools": [describe(name, arguments) for name, (_, arguments) in TOOLS.items()]}}
    if method == "tools/call" and params.get("name") in TOOLS:
        return {**body, "result": call(params)}
    return {**body, "error": {"code": -32601, "message": f"no {method} here"}}


def describe(name, arguments):
    schema = {"type": "object", "properties": arguments, "required": list(arguments)}
    return {"name": name, "description": f"The test tool {name}.", "inputSchema": schema}


serve(answer)
