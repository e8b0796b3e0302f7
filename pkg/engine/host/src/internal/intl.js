/** Intl as far as the engine has it: dates and numbers, in English. What formats them is behind the door. @module */

/** JSON has no words for these. */
const argument = (value) => [typeof value, Object.is(value, -0) ? "-0" : `${value}`];

function ask(kind, locales, options, method, ...args) {
  const text = JSON.stringify({ kind, locales, options, method, args: args.map(argument) });
  const { result, name, message } = JSON.parse(host.call("intl.call", text));
  if (message !== undefined) throw new (globalThis[name] ?? Error)(message);
  return result;
}

/** Formatters may be made without new. */
function formatter(kind, convert) {
  const state = new WeakMap();
  const call = (self, method, ...args) => ask(kind, ...state.get(self), method, ...args.map(convert));
  function Formatter(locales, options) {
    if (!new.target) return new Formatter(locales, options);
    const plain = options === undefined ? undefined : { ...options };
    ask(kind, locales, plain, "resolvedOptions");
    state.set(this, [locales, plain]);
  }
  Object.defineProperty(Formatter, "name", { value: kind });
  const methods = {
    resolvedOptions() {
      return call(this, "resolvedOptions");
    },
    formatToParts(value) {
      return call(this, "formatToParts", value);
    },
    formatRange(from, to) {
      return call(this, "formatRange", from, to);
    },
    formatRangeToParts(from, to) {
      return call(this, "formatRangeToParts", from, to);
    },
    get format() {
      return (value) => call(this, "format", value);
    },
    get [Symbol.toStringTag]() {
      return `Intl.${kind}`;
    },
  };
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(methods))) {
    Object.defineProperty(Formatter.prototype, name, { ...property, enumerable: false });
  }
  Formatter.supportedLocalesOf = (locales) => Intl.getCanonicalLocales(locales);
  return Formatter;
}

const DateTimeFormat = formatter("DateTimeFormat", (value) => (value === undefined ? Date.now() : Number(value)));
const NumberFormat = formatter("NumberFormat", (value) => (typeof value === "bigint" ? value : Number(value)));

export const Intl = Object.defineProperty(
  {
    DateTimeFormat,
    NumberFormat,
    getCanonicalLocales: (locales) => (locales === undefined ? [] : [locales].flat().map(String)),
  },
  Symbol.toStringTag,
  { value: "Intl", configurable: true },
);

const date = { year: "numeric", month: "numeric", day: "numeric" };
const time = { hour: "numeric", minute: "numeric", second: "numeric" };
const dateFields = ["weekday", "year", "month", "day", "dateStyle"];
const timeFields = ["dayPeriod", "hour", "minute", "second", "fractionalSecondDigits", "timeStyle"];

/** Dates show all that is asked for, and the defaults if nothing of their fields is. */
function dated(fields, defaults) {
  return (value, locales, options) => {
    if (Number.isNaN(Number(value))) return "Invalid Date";
    const asked = options && fields.some((field) => options[field] !== undefined);
    return new DateTimeFormat(locales, asked ? options : { ...options, ...defaults }).format(value);
  };
}

/** The methods that bootstrap.js puts on prototypes. */
export const shown = {
  number: (value, locales, options) => new NumberFormat(locales, options).format(value),
  date: dated([...dateFields, ...timeFields], { ...date, ...time }),
  day: dated(dateFields, date),
  time: dated(timeFields, time),
};
