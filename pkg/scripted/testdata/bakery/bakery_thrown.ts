import { trailblaze } from "@trailblaze/scripting";
interface Oven { warm: boolean }
const oven = undefined as unknown as Oven;
console.log("the oven is", oven.warm);
export const bakery_thrown = trailblaze.tool(async () => "never");
