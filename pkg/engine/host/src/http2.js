/** node:http2, as far as code needs it that asks whether something is of HTTP/2: nothing is. @module */
import { unavailableFunctions } from "internal/errors";

export default {
  ...unavailableFunctions("http2", "Http2ServerRequest Http2ServerResponse connect createSecureServer createServer"),
  constants: { NGHTTP2_NO_ERROR: 0, NGHTTP2_CANCEL: 8 },
};
