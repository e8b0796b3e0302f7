/** node:http. @module */
import { IncomingMessage, OutgoingMessage, validateHeaderName, validateHeaderValue } from "internal/http_message";
import { Server, ServerResponse } from "internal/http_server";
import { METHODS, STATUS_CODES } from "internal/http_constants";

const client = () => require("internal/http_client");
let globalAgent;

export default {
  get Agent() {
    return client().Agent;
  },
  get ClientRequest() {
    return client().ClientRequest;
  },
  IncomingMessage,
  METHODS,
  OutgoingMessage,
  STATUS_CODES,
  Server,
  ServerResponse,
  createServer: (options, onRequest) => new Server(options, onRequest),
  get: (...args) => client().clientOf("http:").get(...args),
  get globalAgent() {
    globalAgent ??= new (client().Agent)({ keepAlive: true });
    return globalAgent;
  },
  maxHeaderSize: 16384,
  request: (...args) => client().clientOf("http:").request(...args),
  setMaxIdleHTTPParsers() {},
  validateHeaderName,
  validateHeaderValue,
};
