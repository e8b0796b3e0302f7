/** node:net without sockets. @module */
import { unavailableFunctions } from "internal/errors";

const octet = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const four = `${octet}(?:\\.${octet}){3}`;
const isIPv4 = (text) => new RegExp(`^${four}$`).test(`${text}`);

function isIPv6(text) {
  const [address, zone, ...more] = `${text}`.split("%");
  if (more.length > 0 || zone === "") return false;
  const [, head, last] = /^(.*:)([^:]*)$/.exec(address) ?? [];
  if (head === undefined) return false;
  const plain = isIPv4(last) ? `${head}0:0` : address;
  const halves = plain.split("::");
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return false;
  return halves.length === 2 ? groups.length < 8 : groups.length === 8;
}

const isIP = (text) => (isIPv4(text) ? 4 : isIPv6(text) ? 6 : 0);

export default {
  ...unavailableFunctions("net", "BlockList Server Socket SocketAddress Stream connect createConnection createServer"),
  getDefaultAutoSelectFamily: () => true,
  isIP,
  isIPv4,
  isIPv6,
  setDefaultAutoSelectFamily() {},
};
