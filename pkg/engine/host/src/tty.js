/** node:tty: no stream of an engine is a terminal. @module */
import { absent } from "internal/errors";

export default { isatty: () => false, ...absent("tty", "ReadStream WriteStream") };
