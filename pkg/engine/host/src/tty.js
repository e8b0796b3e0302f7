/** node:tty: no stream of an engine is a terminal. @module */
export default { isatty: () => false };
