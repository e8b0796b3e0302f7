/** Name lookup with the system's resolver. @module */
import { isIP } from "node:net";
import { unavailableFunctions } from "internal/errors";

export async function lookup(name, options = undefined) {
  const { family = 0, all = false } = typeof options === "number" ? { family: options } : (options ?? {});
  const wanted = { IPv4: 4, IPv6: 6 }[family] ?? family;
  const addresses = isIP(name) ? [name] : await host.callAsync("dns.lookup", `${name}`, wanted);
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return all ? found : found[0];
}

/** Functions that query DNS servers, which the engine does not have. @param {string} module */
export const missing = (module) =>
  unavailableFunctions(module, "lookupService resolve resolve4 resolve6 resolveAny resolveCname resolveMx resolveNs resolveSrv resolveTxt reverse");
