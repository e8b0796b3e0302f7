import http.client
import json
import os
import re
import subprocess
import sys
import threading
import unittest
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Dict, List
from unittest import mock

from tests.functions import server
from tests.session import Session, answer
from tests.test_serve import free_port
from trailblaze import Server, TrailblazeClient

PROGRAM = Path(__file__).parent / "functions.py"
README = Path(__file__).parent.parent / "README.md"


def ask(method, params=None, sent=None):
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
    return server._receive(message, "", (sent if sent is not None else []).append)


def call(tool, args, meta=None, sent=None):
    return ask("tools/call", {"name": tool, "arguments": args, "_meta": meta}, sent)["result"]


@dataclass
class Node:
    children: List["Node"]


@dataclass
class Unfinished:
    value: "Absent"  # noqa: F821


class Functions(unittest.TestCase):
    """What becomes of functions, without a process."""

    maxDiff = None

    def test_names_docstrings_and_type_hints_become_tools(self):
        tools = {tool["name"]: tool for tool in ask("tools/list")["result"]["tools"]}
        address = {
            "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string", "default": "Springfield"}},
            "required": ["street"], "additionalProperties": False,
        }
        item = {
            "type": "object", "properties": {"sku": {"type": "string"}, "count": {"type": "integer"}}, "required": [],
            "additionalProperties": False,
        }
        self.assertEqual(tools["signUp"], {
            "name": "signUp",
            "description": "Signs a user up.\n\nThe address may be left out.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "email": {"type": "string", "description": "The address to write to"},
                    "plan": {"enum": ["free", "paid"]},
                    "address": {"anyOf": [address, {"type": "null"}]},
                    "items": {"anyOf": [{"type": "array", "items": item}, {"type": "null"}]},
                    "labels": {"type": "object", "additionalProperties": {"type": "number"}},
                    "mode": {"enum": ["fast", "slow"], "default": "fast"},
                    "seats": {"type": "integer", "default": 1},
                    "share": {"enum": [0.5, 1.0], "default": 1.0},
                },
                "required": ["email", "plan"],
                "additionalProperties": False,
            },
            "outputSchema": {
                "type": "object",
                "properties": {"email": {"type": "string"}, "addresses": {"type": "array", "items": address}},
                "required": ["email"],
                "additionalProperties": False,
            },
        })
        self.assertEqual(tools["cart.add"]["description"], "Adds to the cart.")
        self.assertEqual(tools["cart.add"]["_meta"], {"trailblaze/toolset": "cart", "trailblaze/timeoutMs": 1000})
        self.assertNotIn("outputSchema", tools["cart.add"])

    def test_defaults_that_are_not_json_are_not_shown(self):
        def limit(a: float = float("inf"), b: float = float("nan"), c: float = 1.5): ...

        other = Server()
        other.tool(limit)
        listed = other._receive({"id": 1, "method": "tools/list"}, "", print)["result"]["tools"][0]["inputSchema"]["properties"]
        self.assertEqual(listed, {"a": {"type": "number"}, "b": {"type": "number"}, "c": {"type": "number", "default": 1.5}})

    def test_return_types_without_a_schema_have_none(self):
        def recursive() -> Node: ...
        def undefined() -> Unfinished: ...

        other = Server()
        for function in (recursive, undefined):
            other.tool(function)
        for tool in other._receive({"id": 1, "method": "tools/list"}, "", print)["result"]["tools"]:
            self.assertNotIn("outputSchema", tool)

    def test_nested_arguments_become_values(self):
        args = {"email": "a@b.c", "plan": "paid", "address": {"street": "Main"}, "items": [{"sku": "1"}], "labels": {"a": 1}}
        with Session(lambda _: answer()) as session:
            result = call("signUp", {**args, "_trailblazeContext": {}}, session.meta())
        self.assertEqual(
            result["structuredContent"], {"email": "a@b.c", "addresses": [{"street": "Main", "city": "Springfield"}]}
        )
        self.assertEqual(result["_meta"]["trailblaze"]["memoryDelta"], {
            "plan": "paid", "seen": '["PAID", [{"sku": "1"}], {"a": 1.0}, "fast", 1]',
        })

    def test_wrong_arguments_are_named(self):
        right = {"email": "a@b.c", "plan": "paid"}
        for args, want in [
            ({}, "email is missing"),
            ({**right, "emial": ""}, "emial is unknown; known: email, plan,"),
            ({**right, "email": 1}, "email must be text, not a whole number"),
            ({**right, "seats": True}, "seats must be a whole number, not true or false"),
            ({**right, "seats": 1.5}, "seats must be a whole number, not a number"),
            ({**right, "plan": "gold"}, "plan must be one of 'free', 'paid', not 'gold'"),
            ({**right, "address": {}}, "address.street is missing"),
            ({**right, "items": [{"sku": "1"}, {"count": "2"}]}, "items.1.count must be a whole number, not text"),
            ({**right, "share": 2}, "share must be one of 0.5, 1.0, not 2"),
            ({**right, "share": True}, "share must be one of 0.5, 1.0, not True"),
            ({**right, "labels": {"a": "1"}}, "labels.a must be a number, not text"),
        ]:
            result = call("signUp", args)
            self.assertTrue(result["isError"], args)
            self.assertIn(want, result["content"][0]["text"])
        self.assertNotIn("isError", call("signUp", {**right, "share": 1}))
        self.assertEqual(call("signUp", {**right, "seats": 2.0})["structuredContent"]["email"], "a@b.c")

    def test_results(self):
        with redirect_stderr(StringIO()) as log:
            result = call("fails", {"how": "raise"})
        at = result.pop("_meta")["trailblaze"]["thrownAt"]
        self.assertRegex(at, r"functions\.py:\d+$")
        file, _, line = at.rpartition(":")
        self.assertIn('RuntimeError("broken")', Path(file).read_text(encoding="utf-8").splitlines()[int(line) - 1])
        self.assertEqual(result, {"content": [{"type": "text", "text": "broken"}], "isError": True})
        self.assertIn("RuntimeError: broken", log.getvalue())
        with redirect_stderr(StringIO()):
            self.assertEqual(call("fails", {"how": "key"})["content"][0]["text"], "KeyError: 'greeting'")
            self.assertEqual(call("fails", {"how": "empty"})["content"][0]["text"], "ValueError")
            self.assertEqual(call("fails", {"how": "exit"})["content"][0]["text"], "SystemExit: no backend")
        self.assertEqual(call("fails", {"how": "error"})["content"][0]["text"], "declined")
        self.assertEqual(call("fails", {"how": "nothing"}), {"content": [{"type": "text", "text": ""}]})
        self.assertIn("_trailblaze_delegates", call("fails", {"how": "delegate"})["structuredContent"])
        self.assertEqual(call("cart.add", {"sku": "1"})["structuredContent"], {"sku": "1"})

    def test_failed_calls_of_other_tools_name_both_tools(self):
        for response, want in [
            (answer(success=False, error_message="no such user"), "fails: greet: no such user"),
            ({"result": {"type": "error", "message": "no session"}}, "fails: cannot call greet: no session"),
        ]:
            with redirect_stderr(StringIO()) as log, Session(lambda _: response) as session:
                result = call("fails", {"how": "call"}, session.meta())
            self.assertRegex(result.pop("_meta")["trailblaze"]["thrownAt"], r"functions\.py:\d+$")
            self.assertEqual(result, {"content": [{"type": "text", "text": want}], "isError": True})
            self.assertRegex(log.getvalue(), r'^fails failed:\nTraceback[\s\S]*client\.tools\.greet\(nam="Ada"\)')

    def test_example_of_the_readme(self):
        example = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)[0]
        names = {}
        with mock.patch.object(Server, "run"):
            exec(example, names)
        greeting = answer(json.dumps({"greeting": "Hello, Ada!", "letters": 3}))
        with Session(lambda _: greeting) as session:
            welcome = names["welcome"]("Ada", TrailblazeClient.from_meta(session.meta()), loud=True)
        self.assertEqual(welcome.text, "HELLO, ADA!")

    def test_tools_are_methods_of_clients(self):
        def respond(body):
            return answer(f"hello {json.loads(body['action']['arguments_json'])['name']};")

        with Session(respond) as session:
            self.assertEqual(call("greet", {"name": "Ann"}, session.meta())["content"][0]["text"], "hello Ann;hello Ann;")

    def test_protocol(self):
        self.assertEqual(ask("initialize", {"protocolVersion": "2025-06-18"})["result"], {
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "functions", "version": "1.2.3"},
        })
        self.assertEqual(ask("initialize", {"protocolVersion": "1"})["result"]["protocolVersion"], "2025-11-25")
        self.assertEqual(ask("ping")["result"], {})
        self.assertEqual(ask("prompts/list")["error"]["code"], -32601)
        self.assertEqual(ask("tools/call", {"name": "absent"})["error"]["message"], "unknown tool absent")

    def test_functions_that_cannot_be_tools(self):
        def no_hint(a): ...
        def any_number(*args: int): ...
        def no_schema(a: bytes): ...
        def unknown_name(a: "Absent"): ...  # noqa: F821
        def in_itself(a: Node): ...
        def unknown_field(a: Unfinished): ...
        def keys_of_dict(a: Dict[int, str]): ...

        for function, want in [
            (no_hint, "tool no_hint: parameter a has no type hint"),
            (any_number, "tool any_number: parameter args cannot be an argument"),
            (no_schema, "tool no_schema: parameter a: bytes has no JSON Schema"),
            (unknown_name, "name 'Absent' is not defined; import it outside of TYPE_CHECKING"),
            (in_itself, "tool in_itself: parameter a: Node contains itself, so it has no JSON Schema"),
            (unknown_field, "tool unknown_field: parameter a: a type hint of Unfinished is not defined at run time"),
            (keys_of_dict, "tool keys_of_dict: parameter a: "),
        ]:
            with self.assertRaises(TypeError) as raised:
                Server().tool(function)
            self.assertIn(want, str(raised.exception))
        with self.assertRaises(TypeError):
            Server().tool(meta={"toolsets": ["a"]})(lambda: None)
        with self.assertRaises(ValueError):
            server.tool(name="signUp")(lambda: None)

    def test_calls_that_are_not_awaited_are_reported(self):
        with redirect_stderr(StringIO()) as log, Session(lambda _: answer(success=False, error_message="no such user")) as session:
            with self.assertWarnsRegex(RuntimeWarning, "call_tool_async' was never awaited"):
                result = call("forgets", {}, session.meta())
        self.assertEqual(result["content"][0]["text"], "done")
        self.assertIn("forgets: findUser was called without await: write await client.call_tool_async(…)", log.getvalue())
        self.assertIn("no such user", log.getvalue())
        self.assertIn("forgets returned before a task that it started was done", log.getvalue())


class Process(unittest.TestCase):
    """The server as a process."""

    def start(self, *args, **variables):
        env = {k: v for k, v in os.environ.items() if not k.startswith("TRAILBLAZE_")}
        process = subprocess.Popen(
            [sys.executable, str(PROGRAM), *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**env, **variables}, encoding="utf-8",
        )
        limit = threading.Timer(60, process.kill)
        limit.start()
        self.addCleanup(process.__exit__, None, None, None)
        self.addCleanup(process.kill)
        self.addCleanup(limit.cancel)
        return process

    def request(self, tool, id):
        params = {"name": tool, "arguments": {}, "_meta": {"progressToken": "p"}}
        return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}

    def cancel(self, id):
        return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}

    def test_progress_and_cancellation_over_stdio(self):
        process = self.start()

        def send(message):
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()

        for id, tool in enumerate(["wait", "waitOnLoop"]):
            send(self.request(tool, id))
            progress = json.loads(process.stdout.readline())
            self.assertEqual(progress["method"], "notifications/progress")
            self.assertEqual(progress["params"], {"progressToken": "p", "progress": 1, "message": "started"})
            send(self.cancel(id))
            self.assertEqual(process.stderr.readline(), f"{tool} was cancelled\n")
        send({"jsonrpc": "2.0", "id": 9, "method": "ping"})
        self.assertEqual(json.loads(process.stdout.readline()), {"jsonrpc": "2.0", "id": 9, "result": {}})
        process.stdin.close()
        self.assertEqual(process.wait(30), 0)

    def test_responses_that_are_not_json_become_errors(self):
        params = {"name": "fails", "arguments": {"how": "not JSON"}}
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        out, _ = self.start().communicate(json.dumps(request) + "\n", 30)
        self.assertEqual(json.loads(out)["error"]["code"], -32603)

    def test_progress_and_cancellation_over_http(self):
        port = free_port()
        process = self.start("--transport", "http", "--port", str(port), TRAILBLAZE_SESSION_ID="shared")

        def post(message, **headers):
            while True:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                self.addCleanup(connection.close)
                try:
                    connection.request("POST", "/mcp", json.dumps(message), headers)
                    return connection.getresponse()
                except ConnectionRefusedError:
                    self.assertIsNone(process.poll())

        initialize = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
        clients = [post(initialize).headers["Mcp-Session-Id"] for _ in range(2)]
        self.assertNotEqual(clients[0], clients[1])
        streams = [post(self.request("wait", 1), Accept="application/json, text/event-stream", **{"Mcp-Session-Id": c}) for c in clients]
        for stream in streams:
            self.assertEqual(stream.headers["Content-Type"], "text/event-stream")
            self.assertEqual(stream.readline(), b"event: message\n")
            self.assertEqual(json.loads(stream.readline()[len(b"data: "):])["params"]["message"], "started")
        self.assertEqual(post(self.cancel(1), **{"Mcp-Session-Id": clients[1]}).status, 202)
        self.assertEqual(streams[1].read(), b"\n")  # it ends, without a response
        self.assertEqual(process.stderr.readline(), "wait was cancelled\n")
        self.assertEqual(post(self.cancel(1), **{"Mcp-Session-Id": clients[0]}).status, 202)
        self.assertEqual(process.stderr.readline(), "wait was cancelled\n")
        process.stdin.close()
        self.assertEqual(process.wait(30), 0)
