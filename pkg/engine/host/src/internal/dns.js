/** Names, looked up as the system does. @module */
import { isIP } from "node:net";

export async function lookup(name, options = undefined) {
  const { family = 0, all = false } = typeof options === "number" ? { family: options } : (options ?? {});
  const wanted = { IPv4: 4, IPv6: 6 }[family] ?? family;
  const addresses = isIP(name) ? [name] : await host.start("dns.lookup", `${name}`, wanted);
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return all ? found : found[0];
}

function unavailable(name) {
  throw Object.assign(new Error(`${name}() is not available in the embedded engine; install bun (https://bun.sh) or node`), {
    code: "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM",
  });
}

/** What asks name servers for more than addresses. */
export const missing = (of) =>
  Object.fromEntries([
    "lookupService", "resolve", "resolve4", "resolve6", "resolveAny", "resolveCname", "resolveMx", "resolveNs", "resolveSrv", "resolveTxt", "reverse",
  ].map((name) => [name, () => unavailable(`${of}.${name}`)]));
