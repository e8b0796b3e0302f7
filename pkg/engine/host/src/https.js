/** node:https: a client, and no server. @module */
import { unavailableFunctions } from "internal/errors";
import { Agent, clientOf } from "internal/http_client";

const globalAgent = new Agent({ keepAlive: true });

export default { ...unavailableFunctions("https", "Server createServer"), Agent, ...clientOf("https:", globalAgent), globalAgent };
