// What popular packages of npm ask of node when they are loaded and when they request something.
import http from "node:http";
import tls from "node:tls";
import zlib from "node:zlib";
import { createSecretKey, createHmac, KeyObject } from "node:crypto";
import { once } from "node:events";
import { PassThrough, pipeline } from "node:stream";
import { text } from "node:stream/consumers";

// http2-wrapper, which got loads, looks for the class that node wraps streams in.
console.log(typeof new tls.TLSSocket(new PassThrough())._handle._parentWrap.constructor);
console.log(typeof tls.checkServerIdentity, typeof tls.connect);

// jsonwebtoken tries a private key first and takes the secret for one of HMAC then.
const sign = (data, key) => createHmac("sha256", key instanceof KeyObject ? key : createSecretKey(Buffer.from(key))).update(data).digest("base64url");
console.log(sign("header.payload", "secret"), sign("header.payload", createSecretKey("secret", "utf8")));

// axios and got ask for compressed answers and put a decompressor behind them; express's body-parser does so for requests.
const routes = {
  "/gzip": (response) => response.writeHead(200, { "Content-Encoding": "gzip" }).end(zlib.gzipSync('{"zipped":true}')),
  "/deflate": (response) => response.writeHead(200, { "Content-Encoding": "deflate" }).end(zlib.deflateSync("deflated")),
  "/pieces": (response) => {
    response.writeHead(200, { "Content-Encoding": "gzip" });
    const packed = zlib.createGzip();
    packed.pipe(response);
    for (let i = 0; i < 500; i++) packed.write(`${i},`);
    packed.end();
  },
  "/cut": (response) => response.writeHead(200, { "Content-Encoding": "gzip" }).end(zlib.gzipSync("all of it").subarray(0, -8)),
};
const server = http.createServer(async (request, response) => {
  if (request.method === "GET") return routes[request.url](response);
  const body = await text(request.headers["content-encoding"] === "gzip" ? request.pipe(zlib.createGunzip()) : request);
  response.end(`${request.method} ${body}`);
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address();
const answerOf = async (request) => (await once(request, "response"))[0];
const strict = {};
const lenient = { flush: zlib.constants.Z_SYNC_FLUSH, finishFlush: zlib.constants.Z_SYNC_FLUSH };
for (const [path, options] of [["/gzip", strict], ["/deflate", strict], ["/pieces", lenient], ["/cut", lenient], ["/cut", strict]]) {
  const response = await answerOf(http.get({ port, host: "127.0.0.1", path, headers: { "accept-encoding": "gzip, deflate" } }));
  const unpacked = pipeline(response, zlib.createUnzip(options), () => {});
  console.log(path, response.headers["content-encoding"], await text(unpacked).catch(({ code, message }) => ({ code, message })));
}
const post = http.request({ protocol: undefined, port, host: "127.0.0.1", method: "POST", headers: { "content-encoding": "gzip" } });
post.end(zlib.gzipSync('{"sent":"zipped"}'));
console.log(await text(await answerOf(post)));
server.close();
