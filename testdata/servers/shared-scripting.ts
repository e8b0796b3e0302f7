// A server on @trailblaze/scripting, which serves several sessions without knowing it.
import { writeFileSync } from "node:fs";
import { z } from "zod";
import { trailblaze } from "../../sdks/typescript/src/index.js";
import { gather, meet } from "./shared-tools.mjs";

const meeting = { at: z.string().optional(), of: z.number() };

trailblaze.tool("meet", { inputSchema: meeting }, (args, ctx) => meet(ctx.sessionId, args));
trailblaze.tool("say", { inputSchema: { text: z.string() } }, ({ text }, ctx) => `${ctx.sessionId} ${text}`);
trailblaze.tool("gather", { inputSchema: { n: z.number() } }, (args, ctx, client) => gather(ctx.sessionId, client, args));
trailblaze.tool("crash", { inputSchema: meeting }, async (args, ctx) => {
  await meet(ctx.sessionId, args);
  console.error("this is the end");
  process.exit(3);
});
trailblaze.tool("hang", {}, () => {
  writeFileSync("reached-call", "");
  return new Promise(() => {});
});
trailblaze.tool("environment", {}, () => process.env);
// Asks without an invocation id while so many sessions have a call in flight.
trailblaze.tool("anonymous", { inputSchema: { of: z.number() } }, async ({ of }, ctx) => {
  await meet(ctx.sessionId, { at: "before", of });
  const { TRAILBLAZE_CALLBACK_URL, TRAILBLAZE_SESSION_ID, TRAILBLAZE_SESSION_TOKEN } = process.env;
  const response = await fetch(TRAILBLAZE_CALLBACK_URL!, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${TRAILBLAZE_SESSION_TOKEN}` },
    body: JSON.stringify({
      version: 1,
      session_id: TRAILBLAZE_SESSION_ID,
      action: { type: "call_tool", tool_name: "say", arguments_json: '{"text":"hello"}' },
    }),
  });
  const { result } = (await response.json()) as any;
  await meet(ctx.sessionId, { at: "after", of });
  return result.message ?? result.text_content;
});
await trailblaze.run();
