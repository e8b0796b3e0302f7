// What the tools of the servers do that several sessions share. client is a TrailblazeClient of the call.

const self = `process ${process.pid} ${Math.random()}`; // engines inside trailblaze have its process in common
const places = new Map(); // where sessions meet, by name

/** Waits until so many sessions have called. */
export async function meet(sessionId, { at = "here", of }) {
  if (!places.has(at)) places.set(at, new Set());
  const sessions = places.get(at);
  sessions.add(sessionId);
  while (sessions.size < of) await new Promise((resolve) => setTimeout(resolve, 5));
  return self;
}

/** Makes many callbacks at once, and looks whether what came back is this session's own. */
export async function gather(sessionId, client, { n }) {
  const mine = (i) => `${sessionId} says ${i}`;
  const one = async (i) => {
    const { text } = await client.callTool("say", { text: `says ${i}` });
    if (text !== mine(i)) throw new Error(`${sessionId} was told ${text}`);
    await client.callTool("rememberValue", { name: `k${i}`, value: text });
  };
  await Promise.all(Array.from({ length: n }, (_, i) => one(i)));
  const memory = (await client.callTool("dumpMemory")).json();
  const wrong = Array.from({ length: n }, (_, i) => i).filter((i) => memory[`k${i}`] !== mine(i));
  if (wrong.length > 0) throw new Error(`${sessionId} remembers ${wrong.map((i) => memory[`k${i}`])}`);
  return `remembers ${n}`;
}
