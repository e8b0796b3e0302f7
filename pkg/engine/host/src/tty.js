/** node:tty: no stream of an engine is a terminal. @module */
import { unavailableFunctions } from "internal/errors";

export default { isatty: () => false, ...unavailableFunctions("tty", "ReadStream WriteStream") };
