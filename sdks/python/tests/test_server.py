import json
import os
import subprocess
import sys
import threading
import unittest
from pathlib import Path

from tests.session import Session, answer

SERVER = Path(__file__).parent / "project" / "server.py"


class Server(unittest.TestCase):
    """The test project's server as a process, with a session played by the tests."""

    def setUp(self):
        self.process = subprocess.Popen(
            [sys.executable, str(SERVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(os.environ), encoding="utf-8"
        )
        limit = threading.Timer(60, self.process.kill)
        limit.start()
        self.addCleanup(self.process.__exit__, None, None, None)  # closes the pipes and waits
        self.addCleanup(self.process.kill)
        self.addCleanup(limit.cancel)

    def send(self, id, tool, args, meta):
        message = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": args, "_meta": meta}}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def receive(self):
        message = json.loads(self.process.stdout.readline())
        return message["id"], message["result"]

    def end(self):
        self.process.stdin.close()
        self.assertEqual(self.process.wait(30), 0)

    def test_a_tool_calls_its_own_server_while_it_runs(self):
        def respond(body):
            action = body["action"]
            if action["tool_name"] != "makeUser":
                if action["tool_name"] == "dumpMemory":
                    last.set()
                return answer("{}", memory_delta={"welcome": "hi"})
            # The tool that asks has not answered yet, and its server takes another call.
            self.send(2, "makeUser", json.loads(action["arguments_json"]), session.meta(memory={"plan": "pro"}))
            _, result = self.receive()
            changed = result["_meta"]["trailblaze"]["memoryDelta"]
            return answer(result["content"][0]["text"], structured_content=result["structuredContent"], memory_delta=changed)

        last = threading.Event()
        with Session(respond) as session:
            self.send(1, "signUp", {"plan": "pro"}, session.meta(memory={"obsolete": "x"}))
            self.assertTrue(last.wait(30))
            id, result = self.receive()
        self.end()
        self.assertEqual((id, result["structuredContent"]["welcome"]), (1, "hi"))
        self.assertEqual(result["_meta"], {"trailblaze": {"memoryDelta": {"email": "pro@example.com"}}})
        first = session.requests[0]["body"]["action"]
        self.assertEqual((first["memory_delta"], first["memory_deletions"]), ({"plan": "pro"}, ["obsolete"]))

    def test_a_tool_makes_parallel_calls(self):
        names = [f"user {i}" for i in range(12)]
        together = threading.Barrier(len(names))

        def respond(body):
            together.wait(30)
            return answer("hello " + json.loads(body["action"]["arguments_json"])["name"])

        with Session(respond) as session:
            self.send(1, "greetAll", {"names": names}, session.meta())
            _, result = self.receive()
        self.end()
        self.assertEqual(result["content"][0]["text"], ", ".join("hello " + name for name in names))

    def test_an_error_fails_only_the_call(self):
        with Session(lambda _: answer(success=False, error_message="expected 1, found 2")) as session:
            self.send(1, "insist", {"goOn": False}, session.meta())
            _, failed = self.receive()
            self.send(2, "insist", {"goOn": True}, session.meta())
            _, passed = self.receive()
        self.send(3, "insist", {"goOn": True}, None)
        _, outside = self.receive()
        self.end()
        self.assertTrue(failed["isError"])
        self.assertEqual(failed["content"][0]["text"], "assertEquals: expected 1, found 2")
        self.assertEqual(passed["content"][0]["text"], "expected 1, found 2")
        self.assertIn("not made by a trailblaze session", outside["content"][0]["text"])
