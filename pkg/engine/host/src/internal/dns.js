/** Names, looked up as the system does. @module */
import { isIP } from "node:net";
import { absent } from "internal/errors";

export async function lookup(name, options = undefined) {
  const { family = 0, all = false } = typeof options === "number" ? { family: options } : (options ?? {});
  const wanted = { IPv4: 4, IPv6: 6 }[family] ?? family;
  const addresses = isIP(name) ? [name] : await host.start("dns.lookup", `${name}`, wanted);
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return all ? found : found[0];
}

/** What asks name servers for more than addresses. @param {string} module */
export const missing = (module) =>
  absent(module, "lookupService resolve resolve4 resolve6 resolveAny resolveCname resolveMx resolveNs resolveSrv resolveTxt reverse");
