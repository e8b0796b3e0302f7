// Usage: node tokens.mjs TRAILBLAZE BROWSER PROJECT
// Does one task in the example shop with `trailblaze mcp` and with @playwright/mcp, and prints as JSON how many o200k
// tokens a model would read and write: definitions and instructions once, and every call with its answer once.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";

const here = dirname(fileURLToPath(import.meta.url));
const pages = join(here, "../projects/shop/pages");
const types = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".json": "application/json", ".svg": "image/svg+xml" };

/** Serves the pages of the shop. */
async function serve() {
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url, "http://shop").pathname);
    try {
      const body = await readFile(join(pages, path));
      response.writeHead(200, { "content-type": types[extname(path)] ?? "application/octet-stream" }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return server;
}

/** A client that counts what a model would read and write. */
class Agent {
  constructor(command, args, cwd, env) {
    this.client = new Client({ name: "tokens", version: "1" });
    this.transport = new StdioClientTransport({ command, args, cwd, env: { ...process.env, ...env }, stderr: "inherit" });
    this.calls = 0;
    this.tokens = { definitions: 0, calls: 0, answers: 0 };
  }
  async start() {
    await this.client.connect(this.transport);
    const { tools } = await this.client.listTools();
    const shown = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    this.tokens.definitions = countTokens(JSON.stringify(shown)) + countTokens(this.client.getInstructions() ?? "");
    this.tools = tools.length;
  }
  async call(name, args) {
    const result = await this.client.callTool({ name, arguments: args });
    const text = result.content.map((item) => item.text ?? "").join("\n");
    if (result.isError) throw new Error(`${name}: ${text}`);
    this.calls++;
    this.tokens.calls += countTokens(JSON.stringify({ name, arguments: args }));
    this.tokens.answers += countTokens(text);
    return text;
  }
  /** Counts what the model writes by other means than a call. */
  write(text) {
    this.tokens.calls += countTokens(text);
  }
  async close() {
    await this.client.close();
    const { definitions, calls, answers } = this.tokens;
    return { tools: this.tools, calls: this.calls, tokens: { ...this.tokens, all: definitions + calls + answers } };
  }
}

/** The reference of the line of a snapshot that has all of some texts. */
function reference(snapshot, ...texts) {
  const line = snapshot.split("\n").find((line) => texts.every((text) => line.includes(text)) && line.includes("[ref="));
  if (!line) throw new Error(`no line with ${texts} in\n${snapshot}`);
  return line.match(/\[ref=([^\]]+)\]/)[1];
}

async function withTrailblaze(url, [program, browser, project]) {
  const agent = new Agent(program, ["mcp", "--driver", "playwright-native", "--allow-origin", new URL(url).origin], project, { TRAILBLAZE_BROWSER: browser });
  await agent.start();
  const page = await agent.call("step", { step: "Open the shop", calls: [{ web_navigate: { url } }] }); // with references
  await agent.call("step", { step: "Search for a mug", calls: [{ web_type: { ref: reference(page, "searchbox"), text: "mug" } }] });
  await agent.call("step", { step: "Add the mug to the cart", calls: [{ web_click: { ref: reference(page, "Add", "mug") } }] });
  await agent.call("step", { step: "The cart has one item", kind: "verify", calls: [{ web_verifyTextVisible: { text: "Cart (1)" } }] });
  await agent.call("save_trail", { file: "trails/tokens.trail.yaml", overwrite: true });
  return agent.close();
}

// @playwright/mcp saves nothing: the model writes the test from the code in the answers.
const spec = (url) => `import { test, expect } from "@playwright/test";

test("add a mug to the cart", async ({ page }) => {
  await page.goto("${url}");
  await page.getByRole("searchbox", { name: "Search" }).fill("mug");
  await page.getByRole("button", { name: "Add Enamel mug to cart" }).click();
  await expect(page.getByText("Cart (1)")).toBeVisible();
});
`;

async function withPlaywright(url, [, browser, project]) {
  const agent = new Agent("node", [join(here, "node_modules/@playwright/mcp/cli.js"), "--headless", "--isolated", "--no-sandbox",
    "--executable-path", browser], project, {});
  await agent.start();
  await agent.call("browser_navigate", { url });
  const page = await agent.call("browser_snapshot", {});
  await agent.call("browser_type", { target: reference(page, "searchbox"), element: "Search", text: "mug" });
  const found = await agent.call("browser_find", { text: "Add" }); // the page rendered its products again
  await agent.call("browser_click", { target: reference(found, "Add", "mug"), element: "Add to cart" });
  await agent.call("browser_find", { text: "Cart (1)" });
  agent.write(spec(url));
  return agent.close();
}

const server = await serve();
const url = `http://127.0.0.1:${server.address().port}/index.html`;
const result = {};
for (const [name, run] of Object.entries({ trailblaze: withTrailblaze, playwright: withPlaywright })) {
  if (!process.argv[5] || process.argv[5] === name) result[name] = await run(url, process.argv.slice(2));
}
server.close();
console.log(JSON.stringify(result));
