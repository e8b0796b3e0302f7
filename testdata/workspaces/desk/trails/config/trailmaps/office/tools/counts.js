export async function desk_count({ text, least }) {
  const n = text.split(/\s+/).length;
  if (n < (least ?? 0)) throw new Error(`${n} words`);
  return n;
}
export const desk_stamp = async (args, ctx) => `${args.colour} on ${ctx.device.platform}`;
