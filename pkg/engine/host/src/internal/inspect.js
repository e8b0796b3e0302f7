/** util.inspect and util.format, as node has them. @module */
import inspector from "node-inspect-extracted";

export const { inspect, format, formatWithOptions, stripVTControlCharacters } = inspector;
