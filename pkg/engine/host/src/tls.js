/** node:tls, as far as code needs it that asks whether a connection is encrypted: those of a server of ours are not. @module */
import { absent } from "internal/errors";

export default { ...absent("tls", "TLSSocket Server connect createSecureContext createServer"), rootCertificates: [] };
