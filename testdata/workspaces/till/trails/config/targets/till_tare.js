export async function till_tare(args, ctx, client) {
  await client.callTool("rememberValue", { name: "tare", value: `${args.grams} g` });
  return `${args.grams} g on ${ctx.target.id}`;
}
