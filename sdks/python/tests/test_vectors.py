import json
import os
import unittest
from pathlib import Path

from tests.session import Session, environment
from trailblaze import TrailblazeCallbackError, TrailblazeClient, TrailblazeToolError

VECTORS = json.loads(Path(os.environ["TRAILBLAZE_VECTORS"]).read_text("utf-8"))


class Vectors(unittest.TestCase):
    """The examples that the Go, TypeScript and Python sides share."""

    def session(self, response):
        body = json.dumps(response["body"])
        session = self.enter(Session(lambda _: (response["status"], body)))
        meta = json.loads(json.dumps(VECTORS["meta"]))
        meta["trailblaze"]["baseUrl"] = session.url
        return session, TrailblazeClient.from_meta(meta)

    def enter(self, context):
        value = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return value

    def test_calls(self):
        self.assertGreater(len(VECTORS["calls"]), 4)
        for vector in VECTORS["calls"]:
            with self.subTest(vector["name"]), environment(**VECTORS["env"]):
                session, client = self.session(vector["response"])
                for name, value in vector.get("set", {}).items():
                    client.memory.set(name, value)
                for name in vector.get("delete", []):
                    client.memory.delete(name)
                self.check(client, vector)
                self.check_request(session, vector["request"])

    def check(self, client, vector):
        outcome, call = vector["outcome"], vector["call"]
        if not outcome["ok"]:
            with self.assertRaises(TrailblazeToolError) as raised:
                client.call_tool(call["tool"], call["args"])
            self.assertEqual(raised.exception.reason, outcome["error"])
            return
        result = client.call_tool(call["tool"], call["args"])
        self.assertEqual(result.text, outcome["text"])
        if "json" in outcome:
            self.assertEqual(result.json(), outcome["json"])
        if "memory" in outcome:
            self.assertEqual(dict(client.memory), outcome["memory"])
        self.assertEqual(client.result_meta(), {})

    def check_request(self, session, want):
        (got,) = session.requests
        self.assertEqual(got["path"], want["path"])
        for name, value in want.get("headers", {}).items():
            self.assertEqual(got["headers"][name], value)
        for body in (got["body"], want["body"]):
            body["action"]["arguments"] = json.loads(body["action"].pop("arguments_json"))
        self.assertEqual(got["body"], want["body"])

    def test_rejections(self):
        self.assertGreater(len(VECTORS["refusals"]), 2)
        for vector in VECTORS["refusals"]:
            with self.subTest(vector["name"]), environment(**VECTORS["env"]):
                _, client = self.session(vector["response"])
                with self.assertRaises(TrailblazeCallbackError) as raised:
                    client.call_tool("greet", {})
                self.assertEqual(raised.exception.reason, vector["outcome"]["error"])
