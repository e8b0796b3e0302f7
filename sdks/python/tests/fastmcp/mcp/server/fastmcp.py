import asyncio
import inspect
from types import SimpleNamespace

from trailblaze import serve


class Context:
    """Has the metadata of a request at request_context.meta, as that of FastMCP."""

    def __init__(self, meta):
        self.request_context = SimpleNamespace(meta=SimpleNamespace(model_extra=meta, **meta))


class FastMCP:
    def __init__(self, name):
        self.name, self.tools = name, {}

    def tool(self):
        def register(function):
            self.tools[function.__name__] = function
            return function
        return register

    def run(self):
        serve(self.handle)

    def handle(self, message):
        if "id" not in message:
            return None
        method, params = message["method"], message.get("params", {})
        result = getattr(self, method.replace("/", "_"))(params)
        return {"jsonrpc": "2.0", "id": message["id"], "result": result}

    def initialize(self, params):
        info = {"name": self.name, "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}

    def tools_list(self, _):
        return {"tools": [self.describe(f) for f in self.tools.values()]}

    def describe(self, function):
        names = arguments(function)
        schema = {"type": "object", "properties": {n: {"type": "string"} for n in names}, "required": names}
        return {"name": function.__name__, "description": function.__doc__, "inputSchema": schema}

    def tools_call(self, params):
        ctx = Context(params.get("_meta", {}))
        function = self.tools[params["name"]]
        known = {name: params["arguments"][name] for name in arguments(function)}  # others are ignored
        return asyncio.run(function(**known, ctx=ctx)).data


def arguments(function):
    return [p.name for p in inspect.signature(function).parameters.values() if p.annotation is str]
