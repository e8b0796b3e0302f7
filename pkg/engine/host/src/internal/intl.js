/** Intl as far as the engine has it: dates and numbers in English, and the order of words. What knows it is behind the door. @module */

import { absentClass, absentFunction, choice, english, warnOf } from "internal/intl_english";
import { regional } from "internal/intl_regions";

/** JSON has no words for these. */
const argument = (value) => [typeof value, Object.is(value, -0) ? "-0" : `${value}`];

function ask(kind, locales, options, method, ...args) {
  const text = JSON.stringify({ kind, locales, options, method, args: args.map(argument) });
  const { result, name, message } = JSON.parse(host.call("intl.call", text));
  if (message !== undefined) throw new (globalThis[name] ?? Error)(message);
  return result;
}

/**
 * Formatters may be made without new.
 * @param {string} kind
 * @param {(value: any) => any} convert
 * @param {{known: (name: string | undefined, options: any) => boolean, supported: RegExp, special?: typeof regional}} written in which
 *   places it is written as is known here
 */
function formatter(kind, convert, { known, supported, special = () => undefined }) {
  /** @type {WeakMap<object, {locales: any, name: string | undefined, plain: any, region: ReturnType<typeof regional>}>} */
  const state = new WeakMap();
  const plainly = (self, method, ...args) => {
    const { locales, plain } = state.get(self);
    return ask(kind, locales, plain, method, ...args.map(convert));
  };
  const call = (self, method, ...args) => {
    const { name, plain } = state.get(self);
    if (!known(name, plain ?? {})) warnOf(name);
    return plainly(self, method, ...args);
  };
  const regionally = ({ region }, value) => region.arrange(ask(kind, "en-US", region.options, "formatToParts", convert(value)));
  function Formatter(locales, options) {
    if (!new.target) return new Formatter(locales, options);
    const plain = options === undefined ? undefined : { ...options };
    const [name] = canonical(locales);
    ask(kind, locales, plain, "resolvedOptions");
    state.set(this, { locales, name, plain, region: special(name, plain) });
  }
  Object.defineProperty(Formatter, "name", { value: kind });
  const methods = {
    resolvedOptions() {
      const { region, name } = state.get(this);
      return { ...plainly(this, "resolvedOptions"), ...(region && { locale: name }) };
    },
    formatToParts(value) {
      const own = state.get(this);
      return own.region ? regionally(own, value) : call(this, "formatToParts", value);
    },
    formatRange(from, to) {
      return call(this, "formatRange", from, to);
    },
    formatRangeToParts(from, to) {
      return call(this, "formatRangeToParts", from, to);
    },
    get format() {
      const own = state.get(this);
      if (!own.region) return (value) => call(this, "format", value);
      return (value) => regionally(own, value).map((part) => part.value).join("");
    },
    get [Symbol.toStringTag]() {
      return `Intl.${kind}`;
    },
  };
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(methods))) {
    Object.defineProperty(Formatter.prototype, name, { ...property, enumerable: false });
  }
  Formatter.supportedLocalesOf = (locales) => canonical(locales).filter((name) => supported.test(name));
  return Formatter;
}

/** The names of the locales that are asked for, as they are usually written. @returns {string[]} */
function canonical(locales) {
  if (locales === undefined) return [];
  return [...new Set([locales].flat().map((locale) => {
    if (typeof locale !== "string" && !(locale instanceof Object)) throw new TypeError("Incorrect locale information provided");
    return host.call("intl.locale", `${locale}`).name;
  }))];
}

/** The order of the characters of ASCII, in English and its neighbours; capitals are small letters here. */
const ascii = new Map([..." _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"].map((c, i) => [c, i]));
const isASCII = /^[ -~]*$/;
const asciiLocale = /^(en|de|fr|it|nl|pt)(-[A-Z]{2})?$/;

/** Compares what has no accents: letters first, then small letters before capitals. */
function compareASCII(a, b) {
  const [small, other] = [a.toLowerCase(), b.toLowerCase()];
  const length = Math.min(a.length, b.length);
  let byCase = 0;
  for (let i = 0; i < length; i++) {
    if (small[i] !== other[i]) return ascii.get(small[i]) < ascii.get(other[i]) ? -1 : 1;
    if (byCase === 0 && a[i] !== b[i]) byCase = a[i] === small[i] ? -1 : 1;
  }
  return Math.sign(a.length - b.length) || byCase;
}

class Collator {
  #resolved;
  #compare;

  constructor(locales, options = {}) {
    if (options === null) throw new TypeError("Cannot convert undefined or null to object");
    const name = canonical(locales).find((one) => host.call("intl.locale", one).collates) ?? "en-US";
    const [locale, keys = ""] = name.split("-u-");
    const key = (wanted) => keys.match(`(?:^|-)${wanted}(?:-([a-z]{3,}))?`)?.slice(1).map((value) => value ?? "true")[0];
    const numeric = options.numeric === undefined ? key("kn") === "true" : Boolean(options.numeric);
    const usual = key("kf") ?? (/^(da|mt)\b/.test(name) ? "upper" : "false");
    const caseFirst = choice({ caseFirst: options.caseFirst ?? usual }, "caseFirst", ["false", "upper", "lower"], "Collator");
    const ignorePunctuation = options.ignorePunctuation === undefined ? /^th\b/.test(name) : Boolean(options.ignorePunctuation);
    const [usage, sensitivity] = [
      choice(options, "usage", ["sort", "search"], "Collator"),
      choice(options, "sensitivity", ["variant", "base", "accent", "case"], "Collator"),
    ];
    this.#resolved = { locale: name, usage, sensitivity, ignorePunctuation, collation: key("co") ?? "default", numeric, caseFirst };
    const id = host.call("intl.collator", name, sensitivity, numeric, ignorePunctuation, caseFirst);
    const byTable = (a, b) => host.call("intl.compare", id, a, b);
    const quick = asciiLocale.test(locale) && !keys && sensitivity === "variant" && !numeric && !ignorePunctuation && caseFirst === "false";
    this.#compare = (x, y) => {
      const [a, b] = [`${x}`, `${y}`];
      if (a === b) return 0;
      return quick && isASCII.test(a) && isASCII.test(b) ? compareASCII(a, b) : byTable(a, b);
    };
  }

  static supportedLocalesOf(locales) {
    return canonical(locales).filter((name) => host.call("intl.locale", name).collates);
  }

  get compare() {
    return this.#compare;
  }

  resolvedOptions() {
    return { ...this.#resolved };
  }

  get [Symbol.toStringTag]() {
    return "Intl.Collator";
  }
}

/** Classes of Intl that are older than classes may be called without new. */
const callable = (Class) => new Proxy(Class, { apply: (_, __, args) => new Class(...args) });

/** What localeCompare uses, by what it was asked for. @type {Map<string, Collator>} */
const collators = new Map();

function compare(text, other, locales, options) {
  const key = locales === undefined && options === undefined ? "" : JSON.stringify([locales, options]);
  let collator = collators.get(key);
  if (!collator) collators.set(key, (collator = new Collator(locales, options)));
  return collator.compare(text, other);
}

const american = (name = "en") => /^en(-US)?$/.test(name);

const DateTimeFormat = formatter("DateTimeFormat", (value) => (value === undefined ? Date.now() : Number(value)), {
  known: american, supported: /^en(-(US|GB|CA))?$/, special: regional,
});
/** Where numbers, but not amounts of money, are written as in the United States. */
const likeAmerican = /^en(-(US|GB|CA|AU|NZ|IE))?$/;
const NumberFormat = formatter("NumberFormat", (value) => (typeof value === "bigint" ? value : Number(value)), {
  known: (name, { style = "decimal" }) => american(name) || (likeAmerican.test(name) && ["decimal", "percent"].includes(style)),
  supported: likeAmerican,
});

const absent = ["DisplayNames", "Locale", "RelativeTimeFormat", "Segmenter"];

export const Intl = Object.defineProperty(
  {
    ...Object.fromEntries(absent.map((name) => [name, absentClass(name)])),
    DateTimeFormat,
    NumberFormat,
    ...english(canonical),
    Collator: callable(Collator),
    getCanonicalLocales: canonical,
    supportedValuesOf: absentFunction("supportedValuesOf"),
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
  compare,
};
