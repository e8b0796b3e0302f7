"""A server on the Python package, which serves several sessions without knowing it. PYTHONPATH has to name the package's src."""

import os
import sys
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

from trailblaze import TrailblazeClient, error, serve, success

places = defaultdict(set)  # where sessions meet, by name
arrival = threading.Condition()


def meet(args, client):
    with arrival:
        there = places[args.get("at")]
        there.add(client.session_id)
        arrival.notify_all()
        arrival.wait_for(lambda: len(there) >= args["of"])
    return f"process {os.getpid()}"


def say(args, client):
    return f"{client.session_id} {args['text']}"


def gather(args, client):
    def one(i):
        text = client.call_tool("say", {"text": f"says {i}"}).text
        if text != f"{client.session_id} says {i}":
            raise RuntimeError(f"{client.session_id} was told {text}")
        client.call_tool("rememberValue", {"name": f"k{i}", "value": text})

    with ThreadPoolExecutor(args["n"]) as threads:
        list(threads.map(one, range(args["n"])))
    memory = client.call_tool("dumpMemory").json()
    wrong = [memory.get(f"k{i}") for i in range(args["n"]) if memory.get(f"k{i}") != f"{client.session_id} says {i}"]
    if wrong:
        raise RuntimeError(f"{client.session_id} remembers {wrong}")
    return f"remembers {args['n']}"


def crash(args, client):
    meet(args, client)
    print("this is the end", file=sys.stderr, flush=True)
    os._exit(3)


TOOLS = {tool.__name__: tool for tool in (meet, say, gather, crash)}


def call(params):
    client = TrailblazeClient.from_meta(params["_meta"])
    try:
        return success(TOOLS[params["name"]](params["arguments"], client), client.result_meta())
    except Exception as e:
        return error(str(e))


def handle(message):
    if "id" not in message:
        return None
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] == "initialize":
        info = {"name": "shared", "version": "1"}
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    elif message["method"] == "tools/list":
        result = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}
    elif message["method"] == "tools/call":
        result = call(message["params"])
    else:
        return {**answer, "error": {"code": -32601, "message": "unknown method"}}
    return {**answer, "result": result}


serve(handle)
