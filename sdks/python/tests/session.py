"""The callback server of a session, played by the tests."""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from unittest import mock


def answer(text="", **more):
    """The answer of a tool that worked, or of what ``more`` says."""
    return {"result": {"type": "call_tool_result", "success": True, "text_content": text, "error_message": "", **more}}


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # of the usual 5, many calls at once would make a second's wait each

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # a client that has given up
            super().handle_error(request, client_address)


class Session:
    """Answers callbacks with what ``respond(body)`` returns: a dict, or a status with a text. Keeps what it was asked."""

    def __init__(self, respond):
        self.requests = []
        session = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                session.requests.append({"path": self.path, "headers": self.headers, "body": body})
                given = respond(body)
                status, text = given if isinstance(given, tuple) else (200, json.dumps(given))
                self.send_response(status)
                if status in (301, 302, 307, 308):
                    self.send_header("Location", text)
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            do_GET = do_POST

            def log_message(self, *args):
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=[0.01])

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exc):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def meta(self, **more):
        """The _meta of a call in this session."""
        given = {"baseUrl": self.url, "sessionId": "session-1", "invocationId": "tbk_1", **more}
        return {"trailblazeInvocationId": "tbk_1", "trailblaze": given}


def environment(**variables):
    """Replaces what the environment says to the SDK, and to HTTP clients about proxies."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("TRAILBLAZE_") and not k.lower().endswith("_proxy")}
    return mock.patch.dict(os.environ, {**kept, **variables}, clear=True)
