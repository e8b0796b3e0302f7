import asyncio
import json
import socket
import threading
import types
import unittest

from tests.session import Session, answer, environment
from trailblaze import TrailblazeCallbackError, TrailblazeClient, TrailblazeError, TrailblazeToolError


class Model:
    """Stands for the MCP SDK's model of _meta: what it does not declare is in model_extra, and an attribute."""

    def __init__(self, declared, extra):
        self.__dict__.update(declared)
        self.__dict__.update(extra)
        self.model_extra = extra


class NoRequest:
    """Stands for FastMCP's Context outside a request."""

    @property
    def request_context(self):
        raise ValueError("Context is not available outside of a request")


class Case(unittest.TestCase):
    def setUp(self):
        self.enter(environment())

    def enter(self, context):
        value = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return value

    def session(self, respond):
        return self.enter(Session(respond))

    def client(self, respond, **more):
        return TrailblazeClient.from_meta(self.session(respond).meta(**more))

    def refused(self, client, *call):
        with self.assertRaises(TrailblazeCallbackError) as raised:
            client.call_tool(*(call or ("greet",)))
        self.assertEqual(str(raised.exception), f"cannot call {raised.exception.tool}: {raised.exception.reason}")
        return raised.exception.reason


class Contexts(Case):
    def test_from_context_accepts_every_kind_of_context(self):
        meta = {"trailblaze": {"sessionId": "s", "invocationId": "tbk_1"}}
        model = Model({"progressToken": "1"}, meta)
        for name, ctx in {
            "FastMCP's Context": types.SimpleNamespace(request_context=types.SimpleNamespace(meta=model)),
            "with a dict": types.SimpleNamespace(request_context=types.SimpleNamespace(meta=meta)),
            "a low-level server's request context": types.SimpleNamespace(request_id=1, meta=model),
            "a low-level server": types.SimpleNamespace(request_context=types.SimpleNamespace(meta=model), name="server"),
            "something with _meta": types.SimpleNamespace(_meta=meta),
            "a request's params": {"name": "greet", "_meta": meta},
        }.items():
            with self.subTest(name):
                self.assertEqual(TrailblazeClient.from_context(ctx).session_id, "s")

    def test_from_meta_accepts_every_kind_of_meta(self):
        given = {"sessionId": "s"}
        for meta in (
            {"trailblaze": given},
            Model({}, {"trailblaze": given}),
            types.SimpleNamespace(trailblaze=given, model_extra=None),
        ):
            self.assertEqual(TrailblazeClient.from_meta(meta).session_id, "s")

    def test_only_calls_fail_outside_a_session(self):
        outside = types.SimpleNamespace(request_context=types.SimpleNamespace(meta=None))
        clients = [TrailblazeClient.from_context(ctx) for ctx in (NoRequest(), outside, None, {}, Model({}, {}))]
        for meta in (None, {}, {"trailblaze": None}, {"trailblaze": "x"}, {"trailblaze": {"baseUrl": "http://127.0.0.1:1"}}):
            clients.append(TrailblazeClient.from_meta(meta))
        for client in clients:
            self.assertEqual((client.session_id, client.device, client.target, dict(client.memory)), (None, None, None, {}))
            client.memory.set("name", "value")
            self.assertEqual(client.memory["name"], "value")
            self.assertIn("not made by a trailblaze session", self.refused(client))

    def test_device_target_and_session_id(self):
        device = {"platform": "web", "widthPixels": 0, "heightPixels": 0, "driverType": "playwright-native"}
        client = TrailblazeClient.from_meta({"trailblaze": {"sessionId": "s", "device": device, "target": {"id": "shop"}}})
        self.assertEqual((client.session_id, client.device, client.target), ("s", device, {"id": "shop"}))
        self.assertIn("no callback server", self.refused(client))


class Calls(Case):
    def test_without_a_token_no_header_is_sent(self):
        session = self.session(lambda _: answer())
        TrailblazeClient.from_meta(session.meta()).call_tool("greet")
        (request,) = session.requests
        self.assertNotIn("Authorization", request["headers"])
        self.assertNotIn("Origin", request["headers"])
        self.assertEqual(request["headers"]["Host"], session.url[len("http://") :])
        self.assertEqual(request["body"]["action"]["arguments_json"], "{}")

    def test_proxies_are_not_used(self):
        proxies = {name: "http://127.0.0.1:9" for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")}
        with environment(**proxies):
            self.assertEqual(self.client(lambda _: answer("direct")).call_tool("greet").text, "direct")

    def test_redirects_are_not_followed(self):
        elsewhere = self.session(lambda _: answer("stolen"))
        for status in (301, 302, 307, 308):
            client = self.client(lambda _: (status, elsewhere.url + "/scripting/callback"))
            self.assertIn(f"refused with status {status}", self.refused(client))
        self.assertEqual(elsewhere.requests, [])

    def test_text_is_not_changed(self):
        text = 'Zoë 🚀 "{{name}}" \u2028 \\'
        client = self.client(lambda body: answer(json.loads(body["action"]["arguments_json"])["text"]))
        self.assertEqual(client.call_tool("echo", {"text": text}).text, text)
        self.assertEqual(client.call_tool("echo", {"text": "half \ud83d"}).text, "half \ud83d")

    def test_arguments_that_are_not_json_raise(self):
        client = self.client(lambda _: answer())
        for value, kind in ((float("nan"), ValueError), (object(), TypeError)):
            with self.assertRaises(kind):
                client.call_tool("echo", {"value": value})

    def test_a_tool_that_fails_raises(self):
        client = self.client(lambda _: answer(success=False, error_message="card declined"))
        with self.assertRaises(TrailblazeToolError) as raised:
            client.call_tool("pay")
        self.assertEqual(str(raised.exception), "pay: card declined")
        self.assertEqual((raised.exception.tool, raised.exception.reason), ("pay", "card declined"))
        self.assertIsInstance(raised.exception, TrailblazeError)

    def test_message_names_the_tool_once(self):
        for reason in ("pay: argument amount is missing", 'unknown tool "pay"; did you mean "play"?'):
            with self.assertRaises(TrailblazeToolError) as raised:
                self.client(lambda _, reason=reason: answer(success=False, error_message=reason)).call_tool("pay")
            self.assertEqual((str(raised.exception), raised.exception.reason), (reason, reason))

    def test_json_of_other_text_raises(self):
        for result in (answer("plain"), answer("")):
            with self.assertRaises(TrailblazeError) as raised:
                self.client(lambda _, result=result: result).call_tool("list").json()
            self.assertIn("list: it did not answer with JSON", str(raised.exception))
        self.assertEqual(self.client(lambda _: answer("plain", structured_content=[0])).call_tool("list").json(), [0])
        self.assertEqual(self.client(lambda _: answer(" 0 ")).call_tool("list").json(), 0)

    def test_unknown_responses_are_errors(self):
        for given, want in (
            ((200, "<html>"), 'unknown kind; this package speaks version 1 of the protocol, upgrade it if trailblaze is newer: "<html>"'),
            ((200, "[]"), "unknown kind"),
            ((200, '{"result": null}'), "unknown kind"),
            ((200, '{"result": {"type": "call_tool_result"}}'), "unknown kind"),
            ((200, '{"result": {"type": "later"}}'), "unknown kind"),
            ((200, '{"result": {"type": "error", "message": "no such invocation"}}'), "no such invocation"),
            ((403, "no Origin may be sent\n"), 'refused with status 403: "no Origin may be sent"'),
        ):
            with self.subTest(given):
                self.assertIn(want, self.refused(self.client(lambda _, given=given: given)))

    def test_a_request_that_is_too_large_is_not_sent(self):
        session = self.session(lambda _: answer())
        reason = self.refused(TrailblazeClient.from_meta(session.meta()), "echo", {"text": "x" * (1 << 20)})
        self.assertIn("at most 1048576 are allowed", reason)
        self.assertEqual(session.requests, [])

    def test_connection_refused(self):
        with socket.socket() as taken:  # bound, but nobody listens
            taken.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{taken.getsockname()[1]}"
            client = TrailblazeClient.from_meta({"trailblaze": {"sessionId": "s", "baseUrl": url}})
            self.assertIn(f"{url} does not answer", self.refused(client))

    def test_invalid_base_url(self):
        for url in ("https://127.0.0.1", "127.0.0.1:80", "http://", "http://127.0.0.1:port", "http://[::1", "http://a b"):
            client = TrailblazeClient.from_meta({"trailblaze": {"sessionId": "s", "baseUrl": url}})
            self.assertIn("does not answer", self.refused(client))

    def test_timeout(self):
        over = threading.Event()
        self.addCleanup(over.set)
        client = self.client(lambda _: answer(str(over.wait(30))))
        with environment(TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS="50"):
            self.assertIn("no answer within 0.05 s", self.refused(client))

    def test_invalid_limit_is_ignored(self):
        for limit in ("", "soon", "0", "-1", "nan", "inf"):
            with environment(TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS=limit):
                self.assertEqual(self.client(lambda _: answer("in time")).call_tool("greet").text, "in time")

    def test_parallel_calls(self):
        count = 40  # more than any shared pool of threads would run together
        together = threading.Barrier(count)

        def respond(body):
            together.wait(30)
            return answer(body["action"]["tool_name"])

        client = self.client(respond)

        async def all_of_them():
            return await asyncio.gather(*(client.call_tool_async(str(i), {"i": i}) for i in range(count)))

        self.assertEqual([r.text for r in asyncio.run(all_of_them())], [str(i) for i in range(count)])

    def test_errors_are_raised_to_the_awaiting_caller(self):
        client = self.client(lambda _: answer(success=False, error_message="no"))
        with self.assertRaises(TrailblazeToolError):
            asyncio.run(client.call_tool_async("pay"))


class Memories(Case):
    def test_it_reads_like_a_dict(self):
        memory = TrailblazeClient.from_meta({"trailblaze": {"sessionId": "s", "memory": {"a": 1, "b": [2]}}}).memory
        self.assertEqual((memory["a"], memory.get("c"), memory.get("c", 3), "b" in memory, len(memory)), (1, None, 3, True, 2))
        self.assertEqual((list(memory), dict(memory.items())), (["a", "b"], {"a": 1, "b": [2]}))
        with self.assertRaises(KeyError):
            memory["c"]

    def test_values_become_json(self):
        client = TrailblazeClient.from_meta(None)
        for value, text in (("x", "x"), (1, "1"), (True, "true"), (1.5, "1.5"), ({"é": [None]}, '{"é": [null]}')):
            client.memory.set("it", value)
            self.assertEqual(client.memory["it"], text)
        with self.assertRaises(TypeError):
            client.memory.set("it", None)

    def test_changes_not_sent_are_in_the_result(self):
        client = self.client(lambda _: answer(), memory={"old": "1", "gone": "2"})
        self.assertEqual(client.result_meta(), {})
        client.memory.set("a", "1")
        client.memory.delete("gone")
        client.memory.delete("unknown")
        want = {"trailblaze": {"memoryDelta": {"a": "1"}, "memoryDeletions": ["gone", "unknown"]}}
        self.assertEqual(client.result_meta(), want)
        client.call_tool("greet")
        self.assertEqual(client.result_meta(), {})
        client.memory.delete("a")
        self.assertEqual(client.result_meta(), {"trailblaze": {"memoryDeletions": ["a"]}})

    def test_changes_of_a_lost_request_are_sent_again(self):
        client = self.client(lambda _: (403, "no"))
        client.memory.set("a", "1")
        self.refused(client)
        self.assertEqual(client.result_meta(), {"trailblaze": {"memoryDelta": {"a": "1"}}})

    def test_changes_are_sent_once_if_the_tool_fails(self):
        client = self.client(lambda _: answer(success=False, error_message="no", memory_delta={"b": "2"}))
        client.memory.set("a", "1")
        with self.assertRaises(TrailblazeToolError):
            client.call_tool("greet")
        self.assertEqual((client.result_meta(), dict(client.memory)), ({}, {"a": "1", "b": "2"}))

    def test_values_set_during_a_call_are_kept(self):
        def respond(_):
            client.memory.set("a", "newer")
            client.memory.delete("b")
            return answer(memory_delta={"a": "theirs", "b": "theirs", "c": "theirs"}, memory_deletions=["d", "a"])

        client = self.client(respond, memory={"d": "1"})
        client.memory.set("a", "older")
        client.call_tool("greet")
        self.assertEqual(dict(client.memory), {"a": "newer", "c": "theirs"})
        self.assertEqual(client.result_meta(), {"trailblaze": {"memoryDelta": {"a": "newer"}, "memoryDeletions": ["b"]}})

    def test_memory_is_thread_safe(self):
        session = self.session(lambda _: answer(memory_delta={"theirs": "1"}))
        client = TrailblazeClient.from_meta(session.meta())

        def work(i):
            for j in range(10):
                client.memory.set(f"{i}.{j}", str(j))
                dict(client.memory)
                client.call_tool("greet")

        threads = [threading.Thread(target=work, args=[i]) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        told = {}
        for request in session.requests:
            told.update(request["body"]["action"].get("memory_delta", {}))
        self.assertEqual(told, {f"{i}.{j}": str(j) for i in range(8) for j in range(10)})
        self.assertEqual((len(client.memory), client.result_meta()), (81, {}))
