// node:http, a server and its clients, and fetch.
import http from "node:http";
import { createServer, STATUS_CODES } from "node:http";
import { gzipSync } from "node:zlib";

const listening = (server) => new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server.address().port)));
const facts = ({ name, code, syscall, message, cause }) => ({ name, code, syscall, message, ...(cause && { cause: facts(cause) }) });
const fails = (name, promise) => promise.then((value) => console.log(name, "did not fail", value), (error) => console.log(name, facts(error)));

const events = [];
let all;
let arrived;
const everything = new Promise((resolve) => {
  all = (...facts) => resolve(facts);
});
const routes = {
  "/json": (_, response) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ hello: "wörld" })),
  "/plain": (_, response) => response.end("plain"),
  "/empty": (_, response) => response.writeHead(204).end(),
  "/stream": async (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    for (let i = 0; i < 3; i++) {
      response.write(`data: ${i}\n\n`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    response.end();
  },
  "/echo": async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const { method, url, httpVersion, complete } = request;
    const { host, connection, "user-agent": agent, ...headers } = request.headers;
    for (const name of ["accept-language", "sec-fetch-mode", "accept-encoding", "accept", "content-length", "transfer-encoding"]) delete headers[name];
    response.setHeader("X-Method", method);
    const sorted = Object.fromEntries(Object.entries(headers).sort());
    response.end(JSON.stringify({ method, url, httpVersion, complete, headers: sorted, body, host: host.split(":")[0], agent: typeof agent }));
  },
  "/headers": (_, response) => {
    response.setHeader("X-One", 1).setHeader("x-list", ["a", "b"]);
    response.appendHeader("Set-Cookie", "a=1");
    response.appendHeader("Set-Cookie", ["b=2", "c=3"]);
    response.removeHeader("nothing");
    console.log(response.getHeader("x-one"), response.hasHeader("X-LIST"), response.getHeaderNames(), JSON.stringify(response.getHeaders()), response.headersSent);
    response.writeHead(201, { "X-One": "changed" });
    console.log(response.headersSent, response.statusCode);
    for (const wrong of [() => response.setHeader("a", "b"), () => response.writeHead(200), () => response.removeHeader("x-one")]) {
      try {
        wrong();
      } catch (error) {
        console.log(error.name, error.code, error.message);
      }
    }
    response.end();
  },
  "/wrong": (_, response) => {
    for (const wrong of [
      () => response.setHeader("bad name", "x"), () => response.setHeader("a", "b\r\nc"), () => response.setHeader("a", undefined),
      () => response.setHeader("a", "\u0141"), () => response.writeHead(99), () => response.writeHead("x"),
    ]) {
      try {
        wrong();
      } catch (error) {
        console.log(error.name, error.code, error.message);
      }
    }
    response.end("fine");
  },
  "/large": (_, response) => response.end("x".repeat(1_000_000)),
  "/pieces": (_, response) => {
    for (let i = 0; i < 200; i++) response.write(String(i % 10).repeat(5000));
    response.end("!");
  },
  "/bytes": (_, response) => response.end(Buffer.from([0, 255, 128, 10])),
  "/packed": (_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("packed")),
  "/slow": async (_, response) => {
    for (const start = Date.now(); Date.now() - start < 700; await new Promise((resolve) => setTimeout(resolve, 10))) response.write(".");
    response.end("!");
  },
  "/redirect": (request, response) => response.writeHead(Number(new URL(request.url, "http://x").searchParams.get("status")), { location: "/echo?to" }).end(),
  "/loop": (_, response) => response.writeHead(302, { location: "/loop" }).end(),
  "/away": (_, response) => response.writeHead(302, { location: "ftp://x/" }).end(),
  "/broken": (_, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("some");
    setTimeout(() => response.destroy(), 10);
  },
  "/reset": (request) => request.socket.destroy(),
  "/hang": (request, response) => {
    if (!request.url.endsWith("?told")) return;
    response.on("close", () => events.push(`closed ${response.writableFinished}`));
    request.on("aborted", () => events.push("aborted"));
    arrived();
  },
  "/trickle": (_, response) => {
    response.write("one");
    response.on("close", () => events.push("trickle closed"));
  },
  "/events": (request, response) => {
    const both = [];
    const seen = (name) => both.push(name) === 4 && all(both.sort().join(), response.writableFinished, response.writableEnded, request.complete);
    request.on("end", () => seen("end")).on("close", () => seen("request closed"));
    response.on("finish", () => seen("finish")).on("close", () => seen("response closed"));
    request.resume();
    setTimeout(() => response.end("ok"), 10);
  },
};

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, "http://127.0.0.1");
  if (pathname.includes("/paths/")) return response.end(request.url);
  if (!routes[pathname]) return response.writeHead(404, { "content-type": "text/plain" }).end(`there is no ${pathname}`);
  routes[pathname](request, response);
});
console.log(server.listening, server.address());
const port = await listening(server);
const at = `http://127.0.0.1:${port}`;
console.log(server.listening, server.address().address, server.address().family, port > 0, STATUS_CODES[404]);

const json = await fetch(`${at}/json`);
console.log(json.status, json.ok, json.statusText, json.headers.get("content-type"), json.url === `${at}/json`, json.redirected, json.type, json.bodyUsed);
console.log(await json.json(), json.bodyUsed);
await fails("read twice", json.text());
console.log(await (await fetch(new URL(`${at}/plain#hash`))).text(), (await fetch(`${at}/nothing`)).status);
const empty = await fetch(`${at}/empty`);
console.log(empty.status, empty.body, JSON.stringify(await empty.text()));
console.log([...new Uint8Array(await (await fetch(`${at}/bytes`)).arrayBuffer())], (await (await fetch(`${at}/large`)).text()).length);
console.log((await (await fetch(`${at}/pieces`)).text()).length, (await (await fetch(`${at}/json`)).blob()).size);
let pieces = "";
const stream = await fetch(`${at}/stream`);
for await (const chunk of stream.body.pipeThrough(new TextDecoderStream())) pieces += chunk;
console.log(JSON.stringify(pieces));
const post = (init, path = "/echo") => fetch(`${at}${path}`, { method: "POST", ...init }).then((r) => r.json());
console.log(await post({ body: "text", headers: { "X-A": "1", authorization: "Bearer x" } }));
console.log(await post({ body: JSON.stringify({ a: 1 }), headers: [["content-type", "application/json"], ["x-b", "1"], ["x-b", "2"]] }));
console.log(await post({ body: new URLSearchParams({ q: "a b" }) }), await post({ body: new TextEncoder().encode("bytes") }), await post({}));
console.log(await post({ body: new Blob(["blob"], { type: "text/x" }), method: "put" }));
const parts = new ReadableStream({
  start(controller) {
    for (const part of ["one ", "two"]) controller.enqueue(new TextEncoder().encode(part));
    controller.close();
  },
});
console.log((await post({ body: parts, duplex: "half" })).body);
console.log(await (await fetch(new Request(`${at}/echo?a=b%20c`, { headers: new Headers({ "x-c": "d" }) }))).json());
const headed = await fetch(`${at}/json`, { method: "HEAD" });
console.log(headed.status, JSON.stringify(await headed.text()));
for (const status of [301, 302, 303, 307, 308]) {
  const init = { method: "POST", body: "b", headers: { "content-type": "text/x" } };
  const { method, body, url, headers } = await (await fetch(`${at}/redirect?status=${status}`, init)).json();
  console.log(status, method, body, url, headers["content-type"]);
}
const followed = await fetch(`${at}/redirect?status=302`);
console.log(followed.redirected, followed.url === `${at}/echo?to`);
const manual = await fetch(`${at}/redirect?status=302`, { redirect: "manual" });
console.log(manual.status, manual.headers.get("location"));
await fails("redirect: error", fetch(`${at}/redirect?status=302`, { redirect: "error" }));
await fails("loop", fetch(`${at}/loop`));
await fails("away", fetch(`${at}/away`));
const cookies = await fetch(`${at}/headers`);
console.log(cookies.status, cookies.headers.get("x-one"), cookies.headers.get("x-list"), cookies.headers.getSetCookie());
console.log(await (await fetch(`${at}/wrong`)).text());
await (await fetch(`${at}/events`, { method: "POST", body: "x" })).text();
console.log(...(await everything));

const probe = createServer();
const closed = await listening(probe);
await new Promise((resolve) => probe.close(resolve));
const noPort = (error) => JSON.parse(JSON.stringify(facts(error)).replaceAll(String(closed), "PORT"));
await fetch(`http://127.0.0.1:${closed}/`).catch((error) => console.log(noPort(error), error.cause.port === closed, error.cause.address));
await fails("scheme", fetch("ftp://127.0.0.1/"));
await fetch("nonsense").catch((error) => console.log(error.name, error.message, error.cause?.code));
console.log(await (await fetch("data:text/plain;base64,aGk=")).text(), (await fetch("data:,a%20b")).headers.get("content-type"));
await (await fetch(`${at}/broken`)).text().catch((error) => console.log(error.name, error.message, error.cause?.code));
await fetch(`${at}/reset`).catch((error) => console.log(error.name, error.message, error.cause?.code));
await fetch(`${at}/plain`, { signal: AbortSignal.abort() }).catch((error) => console.log(error.name, error.code, error.message));
await fetch(`${at}/plain`, { signal: AbortSignal.abort("why") }).catch((error) => console.log(error));
const controller = new AbortController();
arrived = () => controller.abort();
await fetch(`${at}/hang?told`, { signal: controller.signal }).catch((error) => console.log(error.name, error.message));
await fetch(`${at}/hang`, { signal: AbortSignal.timeout(20) }).catch((error) => console.log(error.name, error.message));
const second = new AbortController();
const trickle = await fetch(`${at}/trickle`, { signal: second.signal });
const reader = trickle.body.getReader();
console.log(new TextDecoder().decode((await reader.read()).value));
second.abort(new Error("mine"));
await reader.read().catch((error) => console.log(error.message));
while (events.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
console.log(events.sort());
const cancelled = await fetch(`${at}/trickle`);
await cancelled.body.cancel();
while (events.length < 4) await new Promise((resolve) => setTimeout(resolve, 5));

const ask = (url, options, body) =>
  new Promise((resolve, reject) => {
    const request = http.request(url, options, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk)).on("end", () => resolve([response.statusCode, response.statusMessage, Buffer.concat(chunks).toString()]));
    });
    request.on("error", reject).on("timeout", () => request.destroy(new Error("timeout")));
    if (typeof body === "object") for (const part of body) request.write(part);
    request.end(typeof body === "string" ? body : undefined);
  });
console.log(await ask(`${at}/echo`, { method: "POST", headers: { "X-A": "1" } }, "sent"));
console.log((await ask(`${at}/echo?x`, { method: "PUT" }, ["one ", "two"]))[2].includes('"body":"one two"'));
console.log(await ask(`${at}/redirect?status=302`, {}));
console.log(await new Promise((resolve) => http.get(`${at}/plain`, (response) => response.resume().on("end", () => resolve(response.headers["content-length"])))));
await ask(`http://127.0.0.1:${closed}/`, {}).catch((error) => console.log(noPort(error)));
await ask(`${at}/reset`, {}).catch((error) => console.log(facts(error)));
await ask(`${at}/hang`, { signal: AbortSignal.timeout(10) }).catch((error) => console.log(error.code));
const slow = http.get(`${at}/hang`, { timeout: 20 });
await new Promise((resolve) => slow.on("timeout", () => slow.destroy()).on("error", (error) => resolve(console.log(facts(error)))));

await ask(`${at}/slow`, { timeout: 500, agent: false }).then(([status, , body]) => console.log(status, body.at(-1)), (error) => console.log(facts(error)));

for (const path of ["a%2Fb|c?d|%7C", "a|b", "a%2Fb", "[x]//y"]) console.log(await (await fetch(`${at}/paths/${path}`)).text());
for (const path of ["/paths/a%2Fb|c", "http://shop.test/paths/x?y", "HTTPS://shop.test:444/paths/"]) {
  console.log((await ask(at, { path }))[2]);
}
console.log(await (await fetch(`${at}/packed`, { headers: { "accept-encoding": "gzip" } })).text());
console.log(await (await fetch(`${at}/packed`, { headers: { "accept-encoding": "identity" } })).text(), (await ask(`${at}/packed`, {}))[2] === "packed");

const other = createServer();
await new Promise((resolve) => other.on("error", (error) => resolve(console.log(error.code, error.syscall, error.address, error.message.replace(port, "PORT")))).listen(port, "127.0.0.1"));
try {
  server.listen(0);
} catch (error) {
  console.log(error.code, error.message);
}
try {
  createServer().listen(70000);
} catch (error) {
  console.log(error.name, error.code, error.message);
}
await new Promise((resolve) => createServer().close((error) => resolve(console.log(error.code))));
console.log(await new Promise((resolve) => server.close((error) => resolve([error, server.listening, server.address()]))));
const idle = createServer(() => {}).listen(0, "127.0.0.1", () => idle.unref());
