// Test users for the shop. The same seed always makes the same user, on every machine and every runtime.
//
// Copy this file for a server with version 1 of the MCP SDK (@modelcontextprotocol/sdk).
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

interface User {
  id: string;
  name: string;
  email: string;
  address: { street: string; city: string; country: string };
}

const firstNames = ["Ada", "Bashir", "Chidi", "Dolores", "Emre", "Freya", "Goran", "Hanako"];
const lastNames = ["Aalto", "Baptiste", "Castro", "Diallo", "Eriksen", "Fujimoto", "Gupta", "Haddad"];
const cities = { DE: "Bremen", JP: "Sapporo", NO: "Bergen", US: "Portland" } as const;

/** FNV-1a: short, and the same on every runtime. */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}

function makeUser(seed: string, country: keyof typeof cities): User {
  const pick = (names: string[], what: string) => names[hash(`${seed}/${what}`) % names.length];
  const first = pick(firstNames, "first");
  const last = pick(lastNames, "last");
  const id = `u-${hash(seed).toString(16).padStart(8, "0")}`;
  return {
    id,
    name: `${first} ${last}`,
    email: `${first}.${last}.${id}@example.com`.toLowerCase(),
    address: { street: `${(hash(`${seed}/street`) % 90) + 1} Market Street`, city: cities[country], country },
  };
}

/** After `saveAs`, a trail can use fields of JSON in the text. structuredContent has the same value for other MCP clients. */
function json(value: Record<string, unknown>) {
  return { content: [{ type: "text" as const, text: JSON.stringify(value) }], structuredContent: value };
}

// One process is one session, so a plain variable is the session's state.
const users: User[] = [];
const sessionId = process.env.TRAILBLAZE_SESSION_ID ?? "local";

const server = new McpServer({ name: "shop-users", version: "1.0.0" });

server.registerTool(
  "createTestUser",
  {
    description: "Makes up a customer of the shop. The same seed makes the same customer; without one it is new in every session.",
    inputSchema: {
      seed: z.string().optional().describe("any text"),
      country: z.enum(["DE", "JP", "NO", "US"]).default("NO").describe("where the customer lives"),
    },
    _meta: { "trailblaze/toolset": "shop_users" },
  },
  async ({ seed, country }) => {
    const user = makeUser(seed ?? `${sessionId}/${users.length}`, country);
    users.push(user);
    return json({ ...user });
  },
);

server.registerTool(
  "signInLink",
  {
    description: "The deep link that opens the app with this customer signed in.",
    inputSchema: { email: z.email(), next: z.string().default("/").describe("the screen to open") },
    _meta: {
      "trailblaze/toolset": "mobile_links",
      "trailblaze/supportedPlatforms": ["ANDROID", "IOS"], // a browser has no shop:// links
    },
  },
  async ({ email, next }) => {
    const link = `shop://sign-in?${new URLSearchParams({ email, next })}`;
    return { content: [{ type: "text", text: link }] };
  },
);

server.registerTool(
  "listTestUsers",
  {
    description: "The customers made so far in this session. For debugging a trail.",
    _meta: {
      "trailblaze/toolset": "shop_users",
      "trailblaze/isForLlm": false, // an agent does not need it
      "trailblaze/isRecordable": false, // it changes nothing, so a replay does not need it
    },
  },
  async () => json({ users }),
);

// The SDK does not exit at the end of its input. Without this line, the process runs until it is killed.
process.stdin.once("end", () => process.exit(0));
await server.connect(new StdioServerTransport());
