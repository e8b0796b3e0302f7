// With the MCP SDKs: as a server for their client, and as a client inside their servers.
import assert from "node:assert/strict";
import { test } from "node:test";
import { argv, callbacks, environment, fixture, meta, packages, Peer, root, succeeded, until } from "./peer.ts";

test("the same file is a server for any client", async (t) => {
  const { Client } = await import(`${packages}@modelcontextprotocol/sdk/dist/esm/client/index.js`);
  const { StdioClientTransport } = await import(`${packages}@modelcontextprotocol/sdk/dist/esm/client/stdio.js`);
  const client = new Client({ name: "test", version: "1" });
  t.after(() => client.close());
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: argv(fixture("../project/tools/signup.ts")),
      env: environment(),
      stderr: "ignore",
    }),
  );

  assert.deepEqual(client.getServerVersion(), { name: "signup", version: "0.0.0" });
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name, inputSchema }: any) => [name, inputSchema.required]),
    [["signUp", ["plan"]]],
  );
  const outside = await client.callTool({ name: "signUp", arguments: { plan: "pro" } });
  assert.equal(outside.isError, true);
  assert.match(outside.content[0].text, /cannot call generateTestUser: this call was not made by a trailblaze session/);

  const { baseUrl, received } = await callbacks(t, () => succeeded('{"email":"b@example.com"}'));
  const inside = await client.callTool({ name: "signUp", arguments: { plan: "pro" }, _meta: meta({ baseUrl }) });
  assert.deepEqual(inside.content, [{ type: "text", text: "signed up b@example.com" }]);
  assert.deepEqual(inside._meta, { trailblaze: { memoryDelta: { email: "b@example.com" } } });
  assert.equal(received[0].body.action.tool_name, "generateTestUser");
});

for (const script of ["talkback1.ts", "talkback2.mts"]) {
  test(`fromContext gives a tool in ${script} the session's tools`, async (t) => {
    let never = false;
    const { baseUrl, received } = await callbacks(t, ({ body }) => {
      if (body.action.tool_name === "never") never = true;
      else return succeeded("from the session");
    });
    const peer = Peer.start(t, `${root}testdata/servers/${script}`);
    await peer.request("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    });
    peer.notify("notifications/initialized");
    const result = await peer.call("relay", { tool: "look" }, meta({ baseUrl }));
    assert.deepEqual(result.content, [{ type: "text", text: "from the session" }]);
    assert.equal(received[0].body.invocation_id, "tbk_1");
    assert.match((await peer.call("relay", { tool: "look" })).content[0].text, /not made by a trailblaze session/);

    let open = true;
    const id = peer.ask("tools/call", { name: "relay", arguments: { tool: "never" }, _meta: meta({ baseUrl }) });
    await until("the callback", () => never);
    received.at(-1)!.closed.then(() => (open = false));
    peer.notify("notifications/cancelled", { requestId: id });
    await until("the end of the callback", () => !open);
    assert.deepEqual(peer.stray, []);
  });
}
