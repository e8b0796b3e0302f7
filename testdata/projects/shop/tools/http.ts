// Sends requests to an HTTP API and checks the responses. A check that fails is a result with isError: the trail fails with its text.
//
// Copy this file for tools that can be cancelled, that assert, and that distinguish a wrong response from an unreachable API.
import { isDeepStrictEqual } from "node:util";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const success = (text: string) => ({ content: [{ type: "text" as const, text }] });
const failure = (why: string) => ({ ...success(why), isError: true });

/** No later call can work, so the trail ends with outcome "error" instead of "failed". */
const fatal = (why: string) => ({ ...failure(why), _meta: { trailblaze: { variant: "FatalError" } } });

/** Returns the value at a path such as `body.items.0.sku`, as {{tokens}} of a trail do. */
function reach(value: unknown, path: string): unknown {
  for (const key of path === "" ? [] : path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) {
      throw new Error(`there is no ${path}: ${JSON.stringify(value)} has no ${key}`);
    }
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

function build(): McpServer {
  const server = new McpServer({ name: "shop-http", version: "1.0.0" });

  server.registerTool(
    "apiRequest",
    {
      description: "Sends one HTTP request and returns {status, body}; a JSON body is parsed.",
      inputSchema: z.object({
        method: z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]).default("GET"),
        url: z.url({ protocol: /^https?$/ }),
        body: z.unknown().optional().describe("sent as JSON"),
        expectStatus: z.int().min(100).max(599).optional().describe("fail unless the answer has this status"),
      }),
      _meta: { "trailblaze/toolset": "http", "trailblaze/requiresHost": true },
    },
    async ({ method, url, body, expectStatus }, ctx) => {
      let response: Response;
      try {
        response = await fetch(url, {
          method,
          headers: { "content-type": "application/json" },
          body: body === undefined ? undefined : JSON.stringify(body),
          signal: ctx.mcpReq.signal, // stops the request when the call exceeds its limit
        });
      } catch (error) {
        return fatal(`${method} ${url}: the API cannot be reached (${(error as Error).message})`);
      }
      const raw = await response.text();
      const isJson = response.headers.get("content-type")?.includes("json");
      const result = { status: response.status, body: isJson ? JSON.parse(raw) : raw };
      if (expectStatus !== undefined && response.status !== expectStatus) {
        return failure(`${method} ${url}: status ${response.status}, expected ${expectStatus}: ${raw}`);
      }
      return { ...success(JSON.stringify(result)), structuredContent: result };
    },
  );

  server.registerTool(
    "expectJson",
    {
      description: "Fails unless the value at `path` equals `equals`, type included.",
      inputSchema: z.object({
        json: z.unknown().describe("a JSON value, or text that holds one"),
        path: z.string().default("").describe("such as body.items.0.sku; the whole value when empty"),
        equals: z.unknown(),
      }),
    },
    async ({ json, path, equals }) => {
      const actual = reach(typeof json === "string" ? JSON.parse(json) : json, path);
      if (isDeepStrictEqual(actual, equals)) return success("as expected");
      return failure(`${path || "the value"} is ${JSON.stringify(actual)}, expected ${JSON.stringify(equals)}`);
    },
  );

  server.registerTool(
    "expectText",
    {
      description: "Fails unless the text equals `equals`, or matches the regular expression `matches`.",
      inputSchema: z.object({ text: z.string(), equals: z.string().optional(), matches: z.string().optional() }),
    },
    async ({ text, equals, matches }) => {
      if (equals !== undefined && text !== equals) return failure(`the text is "${text}", expected "${equals}"`);
      if (matches !== undefined && !new RegExp(matches).test(text)) return failure(`"${text}" does not match /${matches}/`);
      if (equals === undefined && matches === undefined) return failure("nothing to compare with: set equals or matches");
      return success("as expected");
    },
  );

  return server;
}

serveStdio(build);
