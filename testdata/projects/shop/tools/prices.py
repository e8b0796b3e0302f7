"""Reports on the prices in the catalogue, which belongs to another server.

Copy this file for a server in Python. It does not need an MCP SDK: MCP over stdio is one JSON object per line, and a server of tools needs
to answer three methods. The package trailblaze, which PYTHONPATH in the server's entry names, lets its tools call others.
"""

import json
import statistics
import sys
import traceback
from decimal import ROUND_HALF_UP, Decimal

from trailblaze import TrailblazeClient, error, success

CENT = Decimal("0.01")


def cents(amount):
    return str(amount.quantize(CENT, ROUND_HALF_UP))


def prices(client, category=None):
    only = {"category": category} if category else {}
    found = client.call_tool("queryCatalog", {**only, "limit": 100}).json()
    if not found["products"]:
        raise ValueError("there is nothing to report on; call seedCatalog first")
    return [Decimal(product["price"]) for product in found["products"]]


def price_statistics(client, category=None):
    found = prices(client, category)
    client.memory.set("medianPrice", cents(statistics.median(found)))
    return {"count": len(found), "lowest": cents(min(found)), "highest": cents(max(found)), "mean": cents(statistics.mean(found))}


def vat_report(client, percent):
    gross = sum(prices(client))
    net = (gross / (1 + Decimal(str(percent)) / 100)).quantize(CENT, ROUND_HALF_UP)
    return {"gross": cents(gross), "net": cents(net), "vat": cents(gross - net)}


TOOLS = {
    "priceStatistics": {
        "run": price_statistics,
        "description": "How prices are spread over the catalogue, or a part of it. Remembers {{medianPrice}}.",
        "inputSchema": {"type": "object", "properties": {"category": {"type": "string"}}},
    },
    "vatReport": {
        "run": vat_report,
        "description": "The tax in the prices of one piece of everything. net and vat add up to gross, to the cent.",
        "inputSchema": {"type": "object", "properties": {"percent": {"type": "number", "minimum": 0}}, "required": ["percent"]},
    },
}


def call(name, arguments, meta):
    client = TrailblazeClient.from_meta(meta)
    arguments.pop("_trailblazeContext", None)  # an older form of the context, which the client has too
    try:
        return success(TOOLS[name]["run"](client, **arguments), client.result_meta())
    except Exception as e:  # the trail fails with this message
        traceback.print_exc()  # goes to stderr, which is the log
        return error(str(e))


def answer(method, params):
    if method == "initialize":
        info = {"name": "shop-prices", "version": "1.0.0"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [{"name": name, **{k: v for k, v in tool.items() if k != "run"}} for name, tool in TOOLS.items()]}
    if method == "tools/call" and params["name"] in TOOLS:
        return call(params["name"], params.get("arguments", {}), params.get("_meta"))
    return None


# The loop, and with it the process, ends at the end of the input. It runs one call after the other. A tool that calls its own
# server, or an entry with parallel: true, needs a thread for each call.
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue  # a notification has no response
    result = answer(message["method"], message.get("params", {}))
    outcome = {"error": {"code": -32601, "message": f"no {message['method']} here"}} if result is None else {"result": result}
    # Only protocol lines may go to stdout.
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}), flush=True)
