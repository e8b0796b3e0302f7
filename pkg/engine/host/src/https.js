/** node:https: a client, and no server. @module */
import { Agent, clientOf } from "internal/http_client";

class Server {
  constructor() {
    throw Object.assign(new Error("https servers are not available in the embedded engine; install bun (https://bun.sh) or node"), {
      code: "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM",
    });
  }
}

export default {
  Agent,
  Server,
  createServer: () => new Server(),
  ...clientOf("https:"),
  globalAgent: new Agent({ keepAlive: true }),
};
