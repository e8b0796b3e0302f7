// Connects to a program as an MCP client, subscribes to the registry, starts a session, and prints the registry when the server has
// said that it changed. The arguments are the program and its arguments.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const [command, ...args] = process.argv.slice(2);
const uri = "trailblaze://registry";
const client = new Client({ name: "test", version: "1" });
const updated = new Promise((resolve) => client.setNotificationHandler(ResourceUpdatedNotificationSchema, (n) => resolve(n.params.uri)));
await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" }));
await client.subscribeResource({ uri });
await client.callTool({ name: "session", arguments: { action: "start" } });
const { contents } = await client.readResource({ uri: await updated });
console.log(contents[0].text);
await client.close();
