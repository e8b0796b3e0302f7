import unittest

from trailblaze import TrailblazeClient, delegate, error, fatal_error, success


def text(t):
    return {"content": [{"type": "text", "text": t}]}


class Results(unittest.TestCase):
    def test_success(self):
        for value, want in (
            (None, text("")),
            ("done", text("done")),
            (3, text("3")),
            (False, text("false")),
            (["é"], text('["é"]')),
            ({"id": 7}, {**text('{"id": 7}'), "structuredContent": {"id": 7}}),
        ):
            self.assertEqual(success(value), want)

    def test_result_with_memory(self):
        client = TrailblazeClient.from_meta(None)
        self.assertEqual(success("done", client.result_meta()), text("done"))
        client.memory.set("a", "1")
        note = {"_meta": {"trailblaze": {"memoryDelta": {"a": "1"}}}}
        self.assertEqual(success("done", client.result_meta()), {**text("done"), **note})
        self.assertEqual(delegate([], client.result_meta())["_meta"], note["_meta"])

    def test_failures(self):
        self.assertEqual(error("no"), {**text("no"), "isError": True})
        want = {**text("no"), "isError": True, "_meta": {"trailblaze": {"variant": "FatalError"}}}
        self.assertEqual(fatal_error("no"), want)

    def test_delegates(self):
        calls = [{"tool": "tap", "args": {"text": "OK"}}, {"tool": "back"}]
        self.assertEqual(delegate(calls)["structuredContent"], {"_trailblaze_delegates": calls})
        with self.assertRaisesRegex(TypeError, "call 2 names no tool"):
            delegate([{"tool": "tap"}, {"args": {}}])
