// The other end, for tests: a client that speaks raw lines to a server, and a callback server.
import { type ChildProcess, spawn } from "node:child_process";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { TestContext } from "node:test";

export const root = fileURLToPath(new URL("../../../", import.meta.url));
export const packages = `${root}testdata/servers/node_modules/`;
export const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));

const LIMIT_MS = 20_000;
const tsx = ["--import", pathToFileURL(`${packages}tsx/dist/loader.mjs`).href];

/** How the runtime of this test runs a script: node needs a loader for TypeScript. */
export function argv(script: string): string[] {
  if (process.versions.bun) return ["run", "--no-install", script];
  return script.endsWith(".mjs") ? [script] : [...tsx, script];
}

/** The environment of this test, without what says that it is one. */
export function environment(extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT, ...env } = process.env;
  return { ...env, ...extra };
}

/** Waits until a condition holds. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  for (const deadline = Date.now() + LIMIT_MS; !holds();) {
    if (Date.now() > deadline) throw new Error(`${what} did not happen within ${LIMIT_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export class Peer {
  readonly child: ChildProcess;
  readonly messages: any[] = [];
  readonly stray: string[] = [];
  stderr = "";
  exited: { code: number | null; signal: string | null } | undefined;
  #id = 0;

  /** Starts a script, or any command, and has it killed at the end of the test at the latest. */
  static start(
    t: TestContext,
    script: string,
    options: { env?: NodeJS.ProcessEnv; command?: string; args?: string[]; cwd?: string } = {},
  ): Peer {
    const peer = new Peer(
      options.command ?? process.execPath,
      options.args ?? argv(script),
      environment(options.env),
      options.cwd,
    );
    t.after(() => peer.child.kill("SIGKILL"));
    return peer;
  }

  constructor(command: string, args: string[], env: NodeJS.ProcessEnv, cwd?: string) {
    this.child = spawn(command, args, { env, cwd, stdio: "pipe" });
    this.child.on("error", (error) => (this.stderr += error));
    this.child.stderr!.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    let rest = "";
    this.child.stdout!.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      for (const line of lines) this.#line(line);
    });
    this.child.on("close", (code, signal) => (this.exited = { code, signal }));
  }

  #line(line: string) {
    try {
      this.messages.push(JSON.parse(line));
    } catch {
      this.stray.push(line);
    }
  }

  write(text: string) {
    this.child.stdin!.write(text);
  }

  notify(method: string, params: unknown = {}) {
    this.write(JSON.stringify({ jsonrpc: "2.0", method, params }) + "\n");
  }

  /** Sends a request and returns its id. */
  ask(method: string, params: unknown = {}): number {
    const id = ++this.#id;
    this.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
    return id;
  }

  async answer(id: number): Promise<any> {
    const found = () => this.messages.find((message) => message.id === id);
    await until(`an answer to request ${id}`, () => found() || this.exited).catch((error) => this.fail(error.message));
    if (!found()) this.fail(`the server exited: ${JSON.stringify(this.exited)}`);
    return found();
  }

  fail(what: string): never {
    throw new Error(`${what}; its stderr:\n${this.stderr}`);
  }

  async request(method: string, params: unknown = {}): Promise<any> {
    return this.answer(this.ask(method, params));
  }

  async call(name: string, args: Record<string, unknown> = {}, meta: unknown = undefined): Promise<any> {
    const { result, error } = await this.request("tools/call", { name, arguments: args, _meta: meta });
    if (error) throw new Error(`${error.code} ${error.message}`);
    return result;
  }

  async end(): Promise<{ code: number | null; signal: string | null }> {
    this.child.stdin!.end();
    return this.exit();
  }

  async exit(): Promise<{ code: number | null; signal: string | null }> {
    await until("the exit of the server", () => this.exited !== undefined);
    return this.exited!;
  }
}

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: any;
  /** Settles when the connection ends, as it does when the request is cancelled. */
  closed: Promise<void>;
}

/** A callback server whose answers a function gives; undefined leaves the request open. */
export async function callbacks(
  t: TestContext,
  answer: (received: Received) => unknown,
): Promise<{ baseUrl: string; received: Received[] }> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const closed = new Promise<void>((resolve) => response.once("close", () => resolve()));
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    const one = { path: request.url!, headers: request.headers, body: JSON.parse(text), closed };
    received.push(one);
    const given: any = await answer(one);
    if (given === undefined) return;
    const { status, body } = "status" in given ? given : { status: 200, body: given };
    response
      .writeHead(status, { "content-type": "application/json" })
      .end(typeof body === "string" ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

export const succeeded = (text: string, more = {}) => ({
  result: { type: "call_tool_result", success: true, text_content: text, error_message: "", ...more },
});

/** The _meta of a call in a session. */
export const meta = (trailblaze = {}) => ({
  progressToken: "p-1",
  trailblaze: {
    sessionId: "session-1",
    invocationId: "tbk_1",
    device: { platform: "web", widthPixels: 1280, heightPixels: 800, driverType: "playwright-native" },
    memory: { email: "a@example.com" },
    ...trailblaze,
  },
});
