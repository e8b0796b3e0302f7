/** node:tls, as far as code needs it that asks whether a connection is encrypted: those of a server of ours are not. @module */
import { absent } from "internal/errors";

const missing = absent("tls", "TLSSocket Server checkServerIdentity connect createSecureContext createServer");

/** http2-wrapper makes one of a stream when it is loaded, to find the class that node wraps streams in, and then does without it. */
class TLSSocket {
  constructor(stream) {
    if (typeof stream?.pipe !== "function" || stream.connecting !== undefined) missing.TLSSocket();
    this._handle = { _parentWrap: { constructor: missing.TLSSocket } };
  }
}

export default { ...missing, TLSSocket, rootCertificates: [] };
