/** Parts of Intl that are small in English, and what stands for those that are not here. @module */

const advice = "install bun (https://bun.sh) or node";

let warned = false;

/** Says once in an engine's life that another language was asked for. @param {string} name */
export function warnOf(name) {
  if (warned) return;
  warned = true;
  process.emitWarning(`the embedded engine writes dates, numbers and lists in English (en-US), not in ${name} as asked; ${advice}`);
}

/** Warns if it is not English. @param {string} [name] */
function expectEnglish(name = "en") {
  if (!/^en(-|$)/.test(name)) warnOf(name);
}

/** An option that is one of some words, the first if it is not given. */
export function choice(options, name, allowed, kind) {
  if (options[name] === undefined) return allowed[0];
  const chosen = `${options[name]}`;
  if (allowed.includes(chosen)) return chosen;
  throw new RangeError(`Value ${chosen} out of range for Intl.${kind} options property ${name}`);
}

const tagged = (Class) => Object.defineProperty(Class.prototype, Symbol.toStringTag, { value: `Intl.${Class.name}`, configurable: true });

/** @param {(locales: any) => string[]} canonical names of locales */
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

  for (const Class of [PluralRules, ListFormat]) tagged(Class);
  return { PluralRules, ListFormat };
}

/** A class that can be made, for packages that make one while they are loaded, and not used. @param {string} name */
export function absentClass(name) {
  const use = {
    get(target, property) {
      if (typeof property === "symbol" || property in target || property === "then" || property === "toJSON") return target[property];
      throw new Error(`Intl.${name} is not available in the embedded engine; ${advice}`);
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
  tagged(Class);
  return Class;
}

/** @param {string} name */
export const absentFunction = (name) => () => {
  throw new Error(`Intl.${name} is not available in the embedded engine; ${advice}`);
};
