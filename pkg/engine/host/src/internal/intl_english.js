/** Intl.PluralRules and Intl.ListFormat in English, and placeholders for missing parts of Intl. @module */

const hint = "install bun (https://bun.sh) or node";

let warned = false;

/** Warns once about an unsupported locale. @param {string} name */
export function warnLanguage(name) {
  if (warned) return;
  warned = true;
  process.emitWarning(`the embedded engine writes dates, numbers and lists in English (en-US), not in ${name} as asked; ${hint}`);
}

/** Warns if a locale is not English. @param {string} [name] */
function expectEnglish(name = "en") {
  if (!/^en(-|$)/.test(name)) warnLanguage(name);
}

/** Returns an option that must be one of the allowed values; the first is the default. */
export function choice(options, name, allowed, kind) {
  if (options[name] === undefined) return allowed[0];
  const chosen = `${options[name]}`;
  if (allowed.includes(chosen)) return chosen;
  throw new RangeError(`Value ${chosen} out of range for Intl.${kind} options property ${name}`);
}

const setTag = (Class) => Object.defineProperty(Class.prototype, Symbol.toStringTag, { value: `Intl.${Class.name}`, configurable: true });

/** @param {(locales: any) => string[]} canonical returns canonical locale names */
export function english(canonical) {
  const supportedLocalesOf = (locales) => canonical(locales).filter((name) => /^en(-|$)/.test(name));

  class PluralRules {
    #locale;
    #options;

    static supportedLocalesOf = supportedLocalesOf;

    constructor(locales, options = {}) {
      [this.#locale] = canonical(locales);
      this.#options = { ...options, type: choice(options, "type", ["cardinal", "ordinal"], "PluralRules") };
    }

    select(value) {
      expectEnglish(this.#locale);
      const { type, ...digits } = this.#options;
      const text = type === "ordinal" ? String(Math.abs(value)) : new Intl.NumberFormat("en-US", digits).format(Math.abs(value));
      if (type !== "ordinal") return text === "1" ? "one" : "other";
      if (!/^\d+$/.test(text) || /1[123]$/.test(text)) return "other";
      return { 1: "one", 2: "two", 3: "few" }[text.at(-1)] ?? "other";
    }
  }

  class ListFormat {
    #locale;
    #type;
    #style;

    static supportedLocalesOf = supportedLocalesOf;

    constructor(locales, options = {}) {
      [this.#locale] = canonical(locales);
      this.#type = choice(options, "type", ["conjunction", "disjunction", "unit"], "ListFormat");
      this.#style = choice(options, "style", ["long", "short", "narrow"], "ListFormat");
    }

    resolvedOptions() {
      return { locale: /^en(-|$)/.test(this.#locale) ? this.#locale : "en-US", type: this.#type, style: this.#style };
    }

    #between(index, last, two) {
      const and = this.#style === "long" ? "and " : this.#style === "short" ? "& " : "";
      const word = { conjunction: and, disjunction: "or ", unit: "" }[this.#type];
      if (this.#type === "unit" && this.#style === "narrow") return " ";
      if (index < last) return ", ";
      return two && word ? ` ${word}` : `, ${word}`;
    }

    formatToParts(list) {
      expectEnglish(this.#locale);
      const items = [...(list ?? [])];
      if (items.some((item) => typeof item !== "string")) {
        throw new TypeError(`Iterable yielded ${String(items.find((item) => typeof item !== "string"))} which is not a string`);
      }
      return items.flatMap((value, i) => {
        const element = { type: "element", value };
        return i === 0 ? [element] : [{ type: "literal", value: this.#between(i, items.length - 1, items.length === 2) }, element];
      });
    }

    format(list) {
      return this.formatToParts(list).map(({ value }) => value).join("");
    }
  }

  for (const Class of [PluralRules, ListFormat]) setTag(Class);
  return { PluralRules, ListFormat };
}

/** Returns a class whose objects throw when they are used; packages may create one while they are loaded. @param {string} name */
export function unavailableClass(name) {
  const use = {
    get(target, property) {
      if (typeof property === "symbol" || property in target || property === "then" || property === "toJSON") return target[property];
      throw new Error(`Intl.${name} is not available in the embedded engine; ${hint}`);
    },
  };
  const Class = {
    [name]: class {
      static supportedLocalesOf = () => [];

      constructor() {
        return new Proxy(this, use);
      }
    },
  }[name];
  setTag(Class);
  return Class;
}

/** @param {string} name */
export const unavailableFunction = (name) => () => {
  throw new Error(`Intl.${name} is not available in the embedded engine; ${hint}`);
};
