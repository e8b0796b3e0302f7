import contextlib
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from unittest import mock

from tests.session import Session, answer
from trailblaze import Transport, transport

SERVER = Path(__file__).parent / "project" / "server.py"


def free_port():
    """A port below those that systems give to whoever asks for any, so that it stays free."""
    while True:
        port = random.randrange(10000, 20000)
        with socket.socket() as s, contextlib.suppress(OSError):
            s.bind(("127.0.0.1", port))
            return port


class Flags(unittest.TestCase):
    def test_flags_are_found_among_others(self):
        for argv, want in [
            ([], ("stdio", None)),
            (["--verbose", "--port", "8080"], ("stdio", None)),
            (["--transport", "stdio"], ("stdio", None)),
            (["-x", "--transport", "http", "--port", "8080", "y"], ("http", 8080)),
            (["--transport=http", "--port=8080"], ("http", 8080)),
        ]:
            self.assertEqual(transport(argv), Transport(*want), argv)
        with mock.patch.object(sys, "argv", ["server.py", "--transport", "http", "--port", "1"]):
            self.assertEqual(transport(), Transport("http", 1))

    def test_wrong_flags_end_the_program_with_a_message(self):
        for argv, why in [
            (["--transport", "http"], "goes with --port NUMBER"),
            (["--transport", "http", "--port"], "--port  is not a port"),
            (["--transport", "http", "--port", "70000"], "--port 70000 is not a port"),
            (["--transport", "http", "--port", "٣"], "is not a port"),
            (["--transport", "sse", "--port", "8080"], "--transport sse is unknown"),
        ]:
            with redirect_stderr(StringIO()) as said, self.assertRaises(SystemExit) as raised:
                transport(argv)
            self.assertEqual(raised.exception.code, 2, argv)
            self.assertIn(why, said.getvalue(), argv)


class Http(unittest.TestCase):
    """The test project's server over HTTP."""

    def start(self, port=None, **variables):
        self.port = port or free_port()
        env = {k: v for k, v in os.environ.items() if not k.startswith("TRAILBLAZE_")}
        self.process = subprocess.Popen(
            [sys.executable, str(SERVER), "--transport", "http", "--port", str(self.port)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**env, **variables},
        )
        limit = threading.Timer(60, self.process.kill)
        limit.start()
        self.addCleanup(self.process.__exit__, None, None, None)  # closes the pipes and waits
        self.addCleanup(self.process.kill)
        self.addCleanup(limit.cancel)
        while True:
            try:
                return self.send("GET")
            except ConnectionRefusedError:
                self.assertIsNone(self.process.poll())
                time.sleep(0.01)

    def send(self, method, body=None, path="/mcp", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            text = body if body is None or isinstance(body, (str, bytes)) else json.dumps(body)
            connection.request(method, path, text, {name.replace("_", "-"): value for name, value in headers.items()})
            response = connection.getresponse()
            content = response.read()
            return response.status, json.loads(content) if content else None
        finally:
            connection.close()

    def call(self, tool, args, meta, id=1):
        params = {"name": tool, "arguments": args, "_meta": meta}
        status, message = self.send("POST", {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
        self.assertEqual((status, message["id"]), (200, id))
        return message["result"]

    def end(self):
        self.process.stdin.close()
        self.assertEqual(self.process.wait(30), 0)

    def test_hundreds_of_calls_of_several_sessions_run_in_parallel(self):
        together = threading.Barrier(200)

        def respond(body):
            together.wait(30)
            greeting = json.loads(body["action"]["arguments_json"])["name"]
            return answer(f"{body['session_id']} {body['invocation_id']} {greeting}")

        def one(session, s, i):
            given = session.meta(sessionId=f"session-{s}", invocationId=f"tbk_{s}_{i}")
            result = self.call("greetAll", {"names": [f"{s}/{i}"]}, given)
            self.assertEqual(result["content"][0]["text"], f"session-{s} tbk_{s}_{i} {s}/{i}")

        self.start(TRAILBLAZE_SESSION_ID="shared")
        with Session(respond) as session, ThreadPoolExecutor(200) as clients:
            list(clients.map(lambda n: one(session, n % 4, n // 4), range(200)))
        self.end()

    def test_status_for_each_kind_of_message(self):
        self.start(TRAILBLAZE_SESSION_ID="shared")
        initialize = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
        status, message = self.send("POST", initialize)
        self.assertEqual((status, message["result"]["protocolVersion"]), (200, "2025-11-25"))
        notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        self.assertEqual(self.send("POST", notification), (202, None))
        unknown = {"jsonrpc": "2.0", "id": 2, "method": "prompts/list"}
        status, messages = self.send("POST", [unknown, notification, {**unknown, "id": 3}])
        self.assertEqual((status, [m["id"] for m in messages]), (200, [2, 3]))
        status, message = self.send("POST", {"jsonrpc": "2.0", "id": 4, "method": "tools/call"})
        self.assertEqual((status, message["error"]["code"]), (200, -32601))
        status, message = self.send("POST", {"jsonrpc": "2.0", "id": 5, "method": "initialize"})
        self.assertEqual((status, message["error"]), (200, {"code": -32603, "message": "KeyError: 'protocolVersion'"}))
        self.end()

    def test_rejects_unauthorized_requests(self):
        self.start(TRAILBLAZE_SESSION_ID="shared", TRAILBLAZE_SESSION_TOKEN="secret")
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        token = {"Authorization": "Bearer secret"}
        for what, status, more in [
            ("a page that has rebound its name", 403, {**token, "Host": f"evil.example:{self.port}"}),
            ("another port", 403, {**token, "Host": "127.0.0.1:1"}),
            ("a page", 403, {**token, "Origin": "http://localhost"}),
            ("another user", 401, {}),
            ("a wrong token", 401, {"Authorization": "Bearer Secret"}),
            ("another path", 404, {**token, "path": "/"}),
            ("too much", 413, {**token, "Content_Length": str(1 << 40)}),
            ("no length", 411, {**token, "Content_Length": "x"}),
            ("us", 200, token),
        ]:
            self.assertEqual(self.send("POST", ping, **more)[0], status, what)
        for body in "rubbish", "[]", "[1]", "1":
            self.assertEqual(self.send("POST", body, **token)[0], 400, body)
        for method in "GET", "DELETE", "PUT":
            self.assertEqual(self.send(method, **token)[0], 405, method)
        self.end()

    def test_client_that_sends_all_before_reading_gets_the_rejection(self):
        self.start(TRAILBLAZE_SESSION_ID="shared", TRAILBLAZE_SESSION_TOKEN="secret")
        much = b"x" * ((64 << 20) + 1)
        for status, more, body in [
            (413, {"Authorization": "Bearer secret"}, much),
            (401, {}, much),
            (411, {"Authorization": "Bearer secret", "Transfer_Encoding": "chunked"}, much),
        ]:
            self.assertEqual(self.send("POST", body, **more)[0], status)
        self.end()

    def test_end_of_stdin_waits_for_calls_and_exits(self):
        def respond(_):
            self.process.stdin.close()
            time.sleep(0.2)
            return answer("hello")

        self.start(TRAILBLAZE_SESSION_ID="shared")
        with Session(respond) as session:
            self.assertEqual(self.call("greetAll", {"names": ["Ann"]}, session.meta())["content"][0]["text"], "hello")
        self.assertEqual(self.process.wait(30), 0)

    def test_signals_end_the_process(self):
        for sent, code in (signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, 0):
            self.start(TRAILBLAZE_SESSION_ID="shared")
            self.process.send_signal(sent)
            self.assertEqual(self.process.wait(30), code)

    def test_end_of_stdin_is_ignored_without_trailblaze(self):
        self.start()
        self.process.stdin.close()
        self.assertEqual(self.call("greet", {"name": "Ann"}, None)["content"][0]["text"], "hello Ann")
        self.process.terminate()

    def test_port_in_use_is_an_error_that_names_the_port(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            done = subprocess.run(
                [sys.executable, str(SERVER), "--transport=http", f"--port={port}"], stdin=subprocess.DEVNULL, capture_output=True, text=True
            )
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"cannot serve at 127.0.0.1:{port}: ", done.stderr)
        self.assertIn("Address already in use", done.stderr)

    def test_reuses_the_port_of_a_process_that_has_just_ended(self):
        self.start()
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as client:
            client.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}))
            self.assertIn(b"greetAll", client.getresponse().read())
            self.process.kill()  # its end of the connection closes first, and is remembered for a minute
            self.process.wait(30)
        self.start(port=self.port)


class Stdio(unittest.TestCase):
    def test_requests_before_the_end_of_stdin_get_responses(self):
        lines = [{"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {"name": "greet", "arguments": {"name": f"Ann {i}"}}} for i in range(50)]
        given = "\n".join(["", "rubbish", "1", *map(json.dumps, lines)]) + "\n"
        done = subprocess.run([sys.executable, str(SERVER)], input=given, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(sorted(a["id"] for a in answers), list(range(50)))
        self.assertIn("ignored a line on stdin", done.stderr)
