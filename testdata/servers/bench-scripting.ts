// The server that the benchmark of runtimes starts: @trailblaze/scripting, one tool, no schema library.
import { trailblaze } from "../../sdks/typescript/src/index.js";

const inputSchema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
trailblaze.tool("echo", { description: "Echoes.", inputSchema }, ({ text }) => text);
await trailblaze.run();
