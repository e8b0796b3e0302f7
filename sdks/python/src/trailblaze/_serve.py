from __future__ import annotations

import contextlib
import hmac
import json
import os
import sys
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any, Callable, Dict, List, NamedTuple, NoReturn, Optional, Sequence

from ._json import encode

Message = Dict[str, Any]
Handle = Callable[[Message], Optional[Message]]
# Sends a notification that belongs to the message that is being handled.
Send = Callable[[Message], None]
# Handles a message of a connection, "" if there is only one. An answer of None is not sent.
Receive = Callable[[Message, str, Send], Optional[Message]]

_HOST = "127.0.0.1"
_PATH = "/mcp"
# The same limit as for a line over stdio.
_MAX_BODY_BYTES = 64 << 20
# How long pending calls may take to finish at the end of stdin, in seconds. trailblaze sends SIGTERM after 5 s.
_GRACE = 3.0
# How long a client may continue to send a request that was rejected, in seconds.
_CLOSE_GRACE = 2.0
_PARSE_ERROR, _INVALID_REQUEST, _INTERNAL_ERROR = -32700, -32600, -32603


class Transport(NamedTuple):
    """The transport of a server: ``kind`` is "stdio" or "http", and ``port`` is None for stdio."""

    kind: str
    port: Optional[int]


def transport(argv: Optional[Sequence[str]] = None) -> Transport:
    """Returns the transport that ``--transport`` and ``--port`` in the arguments select. Other arguments are ignored.

    trailblaze starts a server with ``--transport http --port N`` if its entry has ``multiDevice: http``. Wrong flags end the
    program with a message and exit code 2, as in argparse.
    """
    args = sys.argv[1:] if argv is None else list(argv)
    kind, port = _flag(args, "--transport"), _flag(args, "--port")
    if kind in (None, "stdio"):
        return Transport("stdio", None)
    if kind != "http":
        _misused(f"--transport {kind} is unknown; use stdio or http")
    if port is None:
        _misused("--transport http goes with --port NUMBER")
    if not (port.isascii() and port.isdigit() and int(port) < 1 << 16):
        _misused(f"--port {port} is not a port; write a number up to 65535")
    return Transport("http", int(port))


def _flag(args: Sequence[str], name: str) -> Optional[str]:
    value = None
    for i, arg in enumerate(args):
        if arg == name:
            value = args[i + 1] if i + 1 < len(args) else ""
        elif arg.startswith(name + "="):
            value = arg[len(name) + 1 :]
    return value


def _misused(why: str) -> NoReturn:
    print(why, file=sys.stderr)
    raise SystemExit(2)


def end_with_stdin(end: Optional[Callable[[], None]] = None) -> None:
    """Ends an HTTP server of another package at the end of stdin, which closes when trailblaze exits or is killed.

    It does nothing in a process that trailblaze did not start, whose stdin may be closed already. ``end`` is called in a thread.
    Without ``end``, the process exits at once.
    """
    if "TRAILBLAZE_SESSION_ID" not in os.environ:
        return

    def wait() -> None:
        while os.read(0, 1 << 16):
            pass
        end() if end else os._exit(0)

    threading.Thread(target=wait, name="trailblaze-stdin", daemon=True).start()


def serve(handle: Handle, argv: Optional[Sequence[str]] = None) -> None:
    """Serves MCP with a function, over stdio, or over HTTP if the program's arguments select it. Returns at the end of stdin.

    ``handle`` gets a JSON-RPC message and returns the response message, or None for a notification. An exception that it raises
    becomes an error response. Each message is handled in its own thread, so that a tool may wait for another tool of its server.
    """
    serve_connections(lambda message, _connection, _send: handle(message), argv)


def serve_connections(receive: Receive, argv: Optional[Sequence[str]] = None) -> None:
    """``serve`` for a function that distinguishes connections and sends notifications."""
    asked = transport(argv)
    try:
        if asked.port is None:
            _serve_stdio(receive)
        else:
            _serve_http(receive, asked.port)
    except KeyboardInterrupt:
        pass


def _answer(receive: Receive, message: Message, connection: str, send: Send) -> Optional[bytes]:
    """Returns the response to a message as JSON, whatever happens; None if it gets none."""
    asks = "id" in message and "method" in message
    try:
        answer = receive(message, connection, send)
        return _encode(answer) if asks and answer is not None else None
    except BaseException as e:  # sys.exit, too, must not leave a request without a response
        print(f"trailblaze: {message.get('method')} failed: {type(e).__name__}: {e}", file=sys.stderr)
        failure = error_response(message.get("id"), _INTERNAL_ERROR, f"{type(e).__name__}: {e}")
        return _encode(failure) if asks else None


def error_response(id: Any, code: int, message: str) -> Message:
    """Returns a JSON-RPC response with an error."""
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}


def _encode(value: Any) -> bytes:
    return encode(json.dumps(value, ensure_ascii=False, allow_nan=False))


def _serve_stdio(receive: Receive) -> None:
    writing = threading.Lock()
    running = _Running()
    out = sys.stdout.buffer

    def write(message: bytes) -> None:
        with writing:
            out.write(message + b"\n")
            out.flush()

    def send(message: Message) -> None:
        write(_encode(message))

    def work(message: Message) -> None:
        try:
            answer = _answer(receive, message, "", send)
            if answer is not None:
                write(answer)
        finally:
            running.end()

    for line in sys.stdin.buffer:
        if not line.strip():
            continue
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            print(f"trailblaze: ignored a line on stdin that is not a message: {line[:200]!r}", file=sys.stderr)
            continue
        running.begin()
        threading.Thread(target=work, args=[message], daemon=True).start()
    running.wait(_GRACE)


class _Running:
    """Counts pending requests."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = 0

    def begin(self) -> None:
        with self._changed:
            self._count += 1

    def end(self) -> None:
        with self._changed:
            self._count -= 1
            self._changed.notify_all()

    def wait(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._count == 0, seconds)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = os.name == "posix"  # to reuse a free port; on Windows this option would take a port in use
    request_queue_size = 128  # with the default of 5, many parallel calls would wait a second each

    def __init__(self, receive: Receive, port: int) -> None:
        self.receive = receive
        self.running = _Running()
        try:
            super().__init__((_HOST, port), _Handler)
        except OSError as e:
            raise SystemExit(f"trailblaze: cannot serve at {_HOST}:{port}: {e}") from None

    def server_bind(self) -> None:  # that of HTTPServer looks up the name of our address, which may take long
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):  # the client has disconnected
            super().handle_error(request, client_address)


def _serve_http(receive: Receive, port: int) -> None:
    with _Server(receive, port) as server:
        end_with_stdin(server.shutdown)
        server.serve_forever(0.05)
        server.running.wait(_GRACE)


class _Handler(BaseHTTPRequestHandler):
    """Handles each request on its own, because each call contains all that it needs.

    A client gets an Mcp-Session-Id, so that it cancels only its own calls, but it need not send it.
    """

    server: _Server
    opened = ""  # the Mcp-Session-Id to send
    protocol_version = "HTTP/1.1"  # clients reuse connections
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        if not self._accepts():
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdigit():
            return self._refuse(411, "the Content-Length is missing")
        if int(length) > _MAX_BODY_BYTES:
            return self._refuse(413, f"the body is over {_MAX_BODY_BYTES} bytes")
        try:
            given = json.loads(self.rfile.read(int(length)))
        except ValueError:
            return self._refuse(400, "the body is not JSON", _PARSE_ERROR)
        messages = given if isinstance(given, list) else [given]
        if not messages or not all(isinstance(message, dict) for message in messages):
            return self._refuse(400, "the body is neither a message nor a list of messages")
        self.server.running.begin()
        try:
            self._respond(messages, isinstance(given, list))
        finally:
            self.server.running.end()

    def _respond(self, messages: List[Message], is_batch: bool) -> None:
        connection = self.headers.get("Mcp-Session-Id", "")
        if any(message.get("method") == "initialize" for message in messages):
            connection = self.opened = connection or uuid.uuid4().hex
        stream = None if is_batch or "text/event-stream" not in self.headers.get("Accept", "") else _Stream(self)
        send: Send = stream.send if stream else lambda message: None
        answers = [a for a in (_answer(self.server.receive, m, connection, send) for m in messages) if a is not None]
        if stream and stream.started:
            stream.end(answers)
        elif answers:
            self._send(200, b"[" + b", ".join(answers) + b"]" if is_batch else answers[0])
        else:
            self._send(202, b"")

    def do_GET(self) -> None:
        if self._accepts():
            self._refuse(405, "use POST")

    do_DELETE = do_PUT = do_HEAD = do_OPTIONS = do_GET

    def _accepts(self) -> bool:
        """Rejects web pages, by the Host and Origin that browsers send, and other users, by the token in our environment."""
        hosts = [f"{host}:{self.server.server_port}" for host in (_HOST, "localhost", "[::1]")]
        token = os.environ.get("TRAILBLAZE_SESSION_TOKEN")
        given = self.headers.get("Authorization", "").encode()
        if self.headers.get("Host", "").lower() not in hosts:
            self._refuse(403, "the Host is not that of this server")
        elif "Origin" in self.headers:
            self._refuse(403, "web pages may not call tools: there is an Origin header")
        elif token and not hmac.compare_digest(given, f"Bearer {token}".encode()):
            self._refuse(401, "the Authorization is not Bearer and this session's token")
        elif self.path.split("?")[0] != _PATH:
            self._refuse(404, f"nothing is here; MCP is at {_PATH}")
        else:
            return True
        return False

    def _refuse(self, status: int, why: str, code: int = _INVALID_REQUEST) -> None:
        self.close_connection = True
        self._send(status, _encode(error_response(None, code, why)))
        # Many clients send the whole request before they read. If we closed the connection before that, they would lose
        # the response.
        self.connection.settimeout(_CLOSE_GRACE)
        deadline = time.monotonic() + _CLOSE_GRACE
        with contextlib.suppress(OSError):
            while time.monotonic() < deadline and self.rfile.read1(1 << 16):
                pass

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        if status == 405:
            self.send_header("Allow", "POST")
        if status == 401:
            self.send_header("WWW-Authenticate", "Bearer")
        if body:
            self.send_header("Content-Type", "application/json")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.send_session()
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def send_session(self) -> None:
        if self.opened:
            self.send_header("Mcp-Session-Id", self.opened)
            self.opened = ""

    def log_message(self, format: str, *args: Any) -> None:
        pass  # requests are not logged to stderr


class _Stream:
    """A response of server-sent events. It starts with the first notification."""

    def __init__(self, handler: _Handler) -> None:
        self._handler = handler
        self._writing = threading.Lock()
        self.started = False
        self._ended = False

    def send(self, message: Message) -> None:
        with self._writing:
            if not self._ended:
                self._write(_encode(message))

    def end(self, answers: List[bytes]) -> None:
        with self._writing:
            self._ended = True
            for answer in answers:
                self._write(answer)
            self._handler.wfile.write(b"0\r\n\r\n")

    def _write(self, message: bytes) -> None:
        if not self.started:
            self.started = True
            self._handler.send_response(200)
            self._handler.send_header("Content-Type", "text/event-stream")
            self._handler.send_header("Cache-Control", "no-store")
            self._handler.send_header("Transfer-Encoding", "chunked")
            self._handler.send_session()
            self._handler.end_headers()
        event = b"event: message\ndata: " + message + b"\n\n"
        self._handler.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
