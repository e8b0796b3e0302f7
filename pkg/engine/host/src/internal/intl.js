/** Intl: dates and numbers in English, and collation. Go implements most of it. @module */

import { unavailableClass, unavailableFunction, choice, english, warnLanguage } from "internal/intl_english";
import { regional } from "internal/intl_regions";

/** Encodes an argument, because JSON has no undefined, bigint and -0. */
const argument = (value) => [typeof value, Object.is(value, -0) ? "-0" : `${value}`];

function callIntl(kind, locales, options, method, ...args) {
  const text = JSON.stringify({ kind, locales, options, method, args: args.map(argument) });
  const { result, name, message } = JSON.parse(host.call("intl.call", text));
  if (message !== undefined) throw new (globalThis[name] ?? Error)(message);
  return result;
}

/**
 * Returns a class that may be called without new.
 * @param {string} kind
 * @param {(value: any) => any} convert
 * @param {{known: (name: string | undefined, options: any) => boolean, supported: RegExp, special?: typeof regional}} written in which
 *   locales the output is correct
 */
function formatter(kind, convert, { known, supported, special = () => undefined }) {
  /** @type {WeakMap<object, {locales: any, name: string | undefined, plain: any, region: ReturnType<typeof regional>}>} */
  const state = new WeakMap();
  const callPlain = (self, method, ...args) => {
    const { locales, plain } = state.get(self);
    return callIntl(kind, locales, plain, method, ...args.map(convert));
  };
  const call = (self, method, ...args) => {
    const { name, plain } = state.get(self);
    if (!known(name, plain ?? {})) warnLanguage(name);
    return callPlain(self, method, ...args);
  };
  const formatRegional = ({ region }, value) => region.arrange(callIntl(kind, "en-US", region.options, "formatToParts", convert(value)));
  function Formatter(locales, options) {
    if (!new.target) return new Formatter(locales, options);
    const plain = options === undefined ? undefined : { ...options };
    const [name] = canonical(locales);
    callIntl(kind, locales, plain, "resolvedOptions");
    state.set(this, { locales, name, plain, region: special(name, plain) });
  }
  Object.defineProperty(Formatter, "name", { value: kind });
  const methods = {
    resolvedOptions() {
      const { region, name } = state.get(this);
      return { ...callPlain(this, "resolvedOptions"), ...(region && { locale: name }) };
    },
    formatToParts(value) {
      const formatterState = state.get(this);
      return formatterState.region ? formatRegional(formatterState, value) : call(this, "formatToParts", value);
    },
    formatRange(from, to) {
      return call(this, "formatRange", from, to);
    },
    formatRangeToParts(from, to) {
      return call(this, "formatRangeToParts", from, to);
    },
    get format() {
      const formatterState = state.get(this);
      if (!formatterState.region) return (value) => call(this, "format", value);
      return (value) => formatRegional(formatterState, value).map((part) => part.value).join("");
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

/** Returns canonical locale names. @returns {string[]} */
function canonical(locales) {
  if (locales === undefined) return [];
  return [...new Set([locales].flat().map((locale) => {
    if (typeof locale !== "string" && !(locale instanceof Object)) throw new TypeError("Incorrect locale information provided");
    return host.call("intl.locale", `${locale}`).name;
  }))];
}

/** The collation order of ASCII characters in English and similar locales, ignoring case. */
const ascii = new Map([..." _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"].map((c, i) => [c, i]));
const isASCII = /^[ -~]*$/;
const asciiLocale = /^(en|de|fr|it|nl|pt)(-[A-Z]{2})?$/;

/** Compares ASCII strings: first without case, then lower case before upper case. */
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
    const fallback = key("kf") ?? (/^(da|mt)\b/.test(name) ? "upper" : "false");
    const caseFirst = choice({ caseFirst: options.caseFirst ?? fallback }, "caseFirst", ["false", "upper", "lower"], "Collator");
    const ignorePunctuation = options.ignorePunctuation === undefined ? /^th\b/.test(name) : Boolean(options.ignorePunctuation);
    const [usage, sensitivity] = [
      choice(options, "usage", ["sort", "search"], "Collator"),
      choice(options, "sensitivity", ["variant", "base", "accent", "case"], "Collator"),
    ];
    this.#resolved = { locale: name, usage, sensitivity, ignorePunctuation, collation: key("co") ?? "default", numeric, caseFirst };
    const id = host.call("intl.collator", name, sensitivity, numeric, ignorePunctuation, caseFirst);
    const byTable = (a, b) => host.call("intl.compare", id, a, b);
    const isFast = asciiLocale.test(locale) && !keys && sensitivity === "variant" && !numeric && !ignorePunctuation && caseFirst === "false";
    this.#compare = (x, y) => {
      const [a, b] = [`${x}`, `${y}`];
      if (a === b) return 0;
      return isFast && isASCII.test(a) && isASCII.test(b) ? compareASCII(a, b) : byTable(a, b);
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

/** Returns a class that may be called without new. */
const callable = (Class) => new Proxy(Class, { apply: (_, __, args) => new Class(...args) });

/** The collators of localeCompare, by its arguments. @type {Map<string, Collator>} */
const collators = new Map();

function compare(text, other, locales, options) {
  const key = locales === undefined && options === undefined ? "" : JSON.stringify([locales, options]);
  let collator = collators.get(key);
  if (!collator) collators.set(key, (collator = new Collator(locales, options)));
  return collator.compare(text, other);
}

const isAmerican = (name = "en") => /^en(-US)?$/.test(name);

const DateTimeFormat = formatter("DateTimeFormat", (value) => (value === undefined ? Date.now() : Number(value)), {
  known: isAmerican, supported: /^en(-(US|GB|CA))?$/, special: regional,
});
/** Locales that format numbers, apart from currencies, as in the United States. */
const americanNumbers = /^en(-(US|GB|CA|AU|NZ|IE))?$/;
const NumberFormat = formatter("NumberFormat", (value) => (typeof value === "bigint" ? value : Number(value)), {
  known: (name, { style = "decimal" }) => isAmerican(name) || (americanNumbers.test(name) && ["decimal", "percent"].includes(style)),
  supported: americanNumbers,
});

const absent = ["DisplayNames", "Locale", "RelativeTimeFormat", "Segmenter"];

export const Intl = Object.defineProperty(
  {
    ...Object.fromEntries(absent.map((name) => [name, unavailableClass(name)])),
    DateTimeFormat,
    NumberFormat,
    ...english(canonical),
    Collator: callable(Collator),
    getCanonicalLocales: canonical,
    supportedValuesOf: unavailableFunction("supportedValuesOf"),
  },
  Symbol.toStringTag,
  { value: "Intl", configurable: true },
);

const date = { year: "numeric", month: "numeric", day: "numeric" };
const time = { hour: "numeric", minute: "numeric", second: "numeric" };
const dateFields = ["weekday", "year", "month", "day", "dateStyle"];
const timeFields = ["dayPeriod", "hour", "minute", "second", "fractionalSecondDigits", "timeStyle"];

/** Returns a toLocale*String method of Date. It uses the defaults when the options have none of the fields. */
function dateMethod(fields, defaults) {
  return (value, locales, options) => {
    if (Number.isNaN(Number(value))) return "Invalid Date";
    const asked = options && fields.some((field) => options[field] !== undefined);
    return new DateTimeFormat(locales, asked ? options : { ...options, ...defaults }).format(value);
  };
}

/** Methods that bootstrap.js defines on prototypes. */
export const prototypeMethods = {
  number: (value, locales, options) => new NumberFormat(locales, options).format(value),
  date: dateMethod([...dateFields, ...timeFields], { ...date, ...time }),
  day: dateMethod(dateFields, date),
  time: dateMethod(timeFields, time),
  compare,
};
