/** node:http2, as far as code needs it that asks whether something is of HTTP/2: nothing is. @module */

class Http2ServerRequest {}
class Http2ServerResponse {}

function unavailable(name) {
  return () => {
    throw Object.assign(new Error(`http2.${name}() is not available in the embedded engine; install bun (https://bun.sh) or node`), {
      code: "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM",
    });
  };
}

export default {
  Http2ServerRequest,
  Http2ServerResponse,
  connect: unavailable("connect"),
  constants: { NGHTTP2_NO_ERROR: 0, NGHTTP2_CANCEL: 8 },
  createSecureServer: unavailable("createSecureServer"),
  createServer: unavailable("createServer"),
  sensitiveHeaders: Symbol("nodejs.http2.sensitiveHeaders"),
};
