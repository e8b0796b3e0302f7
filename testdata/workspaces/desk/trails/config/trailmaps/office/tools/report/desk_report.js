import { basename, dirname } from "node:path";

export async function desk_report(args, ctx, client) {
  const folder = basename(dirname(args.file));
  await client.callTool("rememberValue", { name: "folder", value: folder });
  return args.upper ? folder.toUpperCase() : folder;
}
