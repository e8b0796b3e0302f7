// A tool server in plain JavaScript, without any package: one JSON-RPC message per line on stdin and stdout.
// stdout belongs to the protocol. Write everything else with console.error.
// With packages, @trailblaze/scripting or the official SDK (@modelcontextprotocol/sdk) does all of this for you.
import { createInterface } from "node:readline";

const tools = {
  greet: {
    description: "Greets somebody by name.",
    inputSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"], additionalProperties: false },
    run: ({ name }) => JSON.stringify({ greeting: `Hello, ${name}!`, letters: name.length }),
  },
};

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "greetings", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({
    tools: Object.entries(tools).map(([name, { description, inputSchema }]) => ({ name, description, inputSchema })),
  }),
  "tools/call": ({ name, arguments: args }) => {
    try {
      return { content: [{ type: "text", text: tools[name].run(args) }] };
    } catch (error) {
      return { isError: true, content: [{ type: "text", text: error.message }] };
    }
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue; // a notification wants no answer
  const answer = methods[method]
    ? { result: methods[method](params ?? {}) }
    : { error: { code: -32601, message: `unknown method ${method}` } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...answer }) + "\n");
}
