// Connects to a program as an MCP client, over the pipes of a process. The arguments are the program and its arguments. It lists
// the tools, opens the page that PAGE names, prints what the snapshot shows, and with HANG set then makes a call that takes long.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "test", version: "1" });
await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" }));
const call = async (name, args) => (await client.callTool({ name, arguments: args })).content[0].text;
console.log((await client.listTools()).tools.map((t) => t.name).join(" "));
console.log(await call("step", { step: "Open", calls: [{ web_navigate: { url: process.env.PAGE } }] }));
console.log(await call("snapshot", {}));
if (process.env.HANG) {
  console.log("hanging");
  await call("step", { step: "Wait", calls: [{ waitForSelector: { selector: "#never", timeoutMs: 300000 } }] });
}
await client.close();
