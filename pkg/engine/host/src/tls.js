/** node:tls for code that checks whether a connection is encrypted; connections of the engine's servers are not. @module */
import { unavailableFunctions } from "internal/errors";

const missing = unavailableFunctions("tls", "TLSSocket Server checkServerIdentity connect createSecureContext createServer");

/** http2-wrapper wraps a stream in a TLSSocket when it is loaded, and does not need the result. */
class TLSSocket {
  constructor(stream) {
    if (typeof stream?.pipe !== "function" || stream.connecting !== undefined) missing.TLSSocket();
    this._handle = { _parentWrap: { constructor: missing.TLSSocket } };
  }
}

export default { ...missing, TLSSocket, rootCertificates: [] };
