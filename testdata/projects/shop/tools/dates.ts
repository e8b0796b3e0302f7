// Dates of delivery, as the shop computes and shows them.
//
// Copy this file for a server without any dependency: MCP over stdio is one JSON object per line, and a server of tools needs to
// answer three methods.
import { createInterface } from "node:readline";

type Platform = "ANDROID" | "IOS" | "WEB";
type Args = Record<string, unknown> & { _trailblazeContext?: { device?: { platform?: Platform } } };

interface Tool {
  description: string;
  inputSchema: object;
  _meta: Record<string, unknown>;
  run(args: Args): string;
}

const day = { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}$", description: "YYYY-MM-DD" };
const weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Everything is UTC: a trail must not depend on where it is replayed. */
function parseDay(text: unknown): Date {
  const date = new Date(`${text}T00:00:00Z`);
  if (Number.isNaN(date.getTime()) || isoDay(date) !== text) throw new Error(`${text} is not a day of the calendar`);
  return date;
}

const isoDay = (date: Date) => date.toISOString().slice(0, 10);
const plusDays = (date: Date, n: number) => new Date(date.getTime() + n * 86_400_000);

const tools: Record<string, Tool> = {
  addBusinessDays: {
    description: "The day that is so many business days later. Saturdays, Sundays and the given holidays do not count.",
    inputSchema: {
      type: "object",
      properties: {
        from: day,
        days: { type: "integer", minimum: 0, maximum: 1000 },
        holidays: { type: "array", items: day },
      },
      required: ["from", "days"],
    },
    _meta: { "trailblaze/toolset": "dates" },
    run({ from, days, holidays }) {
      const closed = new Set((holidays as string[] | undefined) ?? []);
      let date = parseDay(from);
      for (let left = days as number; left > 0; ) {
        date = plusDays(date, 1);
        if (date.getUTCDay() % 6 !== 0 && !closed.has(isoDay(date))) left--;
      }
      return isoDay(date);
    },
  },

  formatDate: {
    description: "The day as the app shows it on this session's platform: Today, Tomorrow, or the date.",
    inputSchema: {
      type: "object",
      properties: { date: day, now: { ...day, description: "the day it is, default today" } },
      required: ["date"],
    },
    _meta: { "trailblaze/toolset": "dates", "trailblaze/requiresContext": true },
    run({ date, now, _trailblazeContext }) {
      const shown = parseDay(date);
      const today = parseDay(now ?? isoDay(new Date()));
      if (isoDay(shown) === isoDay(today)) return "Today";
      if (isoDay(shown) === isoDay(plusDays(today, 1))) return "Tomorrow";
      const weekday = weekdays[shown.getUTCDay()];
      const month = months[shown.getUTCMonth()];
      switch (_trailblazeContext?.device?.platform) {
        case "ANDROID":
          return `${weekday}, ${month} ${shown.getUTCDate()}`;
        case "IOS":
          return `${weekday} ${shown.getUTCDate()} ${month}`;
        default:
          return isoDay(shown);
      }
    },
  },
};

function callTool(name: string, args: Args) {
  try {
    return { content: [{ type: "text", text: tools[name].run(args) }] };
  } catch (error) {
    return { isError: true, content: [{ type: "text", text: (error as Error).message }] };
  }
}

function answer(method: string, params: any) {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "shop-dates", version: "1.0.0" },
      };
    case "ping":
      return {};
    case "tools/list":
      return { tools: Object.entries(tools).map(([name, { run, ...tool }]) => ({ name, ...tool })) };
    case "tools/call":
      if (Object.hasOwn(tools, params.name)) return callTool(params.name, params.arguments ?? {});
  }
  return undefined;
}

// The loop, and with it the process, ends at the end of the input.
for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() === "") continue;
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue; // a notification has no response
  const result = answer(method, params);
  const error = { code: -32601, message: `no ${method}${params?.name ? ` of ${params.name}` : ""} here` };
  // Write only protocol lines to stdout; use console.error for everything else.
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) }) + "\n");
}
