/** Dates and times in numbers, where they are not written as in the United States. @module */

const ymd = ["year", "month", "day"];
const hms = ["hour", "minute", "second"];

const swedish = { order: ymd, between: "-", then: " " };

/** @type {Record<string, {order: string[], between: string, then: string, periods?: Record<string, string>}>} */
const regions = {
  "en-CA": { order: ymd, between: "-", then: ", ", periods: { AM: "a.m.", PM: "p.m." } },
  "en-GB": { order: ["day", "month", "year"], between: "/", then: ", " },
  sv: swedish,
  "sv-SE": swedish,
};

const numeric = (names) => Object.fromEntries(names.map((name) => [name, "numeric"]));

/** What styles and defaults mean, in fields; undefined if it is more than numbers. */
function fieldsOf({ dateStyle, timeStyle, ...fields }) {
  if (dateStyle !== undefined) {
    if (dateStyle !== "short") return undefined;
    Object.assign(fields, numeric(ymd));
  }
  if (timeStyle !== undefined) {
    if (timeStyle !== "short" && timeStyle !== "medium") return undefined;
    Object.assign(fields, numeric(timeStyle === "short" ? hms.slice(0, 2) : hms));
  }
  const asked = Object.entries(fields).filter(([, value]) => value !== undefined);
  if (asked.length === 0) return numeric(ymd);
  const known = asked.every(([name, value]) => [...ymd, ...hms].includes(name) && ["numeric", "2-digit"].includes(value));
  const days = ymd.filter((name) => fields[name] !== undefined).length;
  return known && days % ymd.length === 0 ? Object.fromEntries(asked) : undefined;
}

/**
 * How a region writes what was asked for: what to ask for in English, and how to arrange the parts of the answer. undefined if that is
 * not known here.
 * @param {string} name of the locale
 */
export function regional(name, { timeZone, hour12, hourCycle, localeMatcher: _, ...rest } = {}) {
  const region = regions[name];
  const fields = region && fieldsOf(rest);
  if (!fields || ![undefined, "h12", "h23"].includes(hourCycle)) return undefined;
  const halves = hour12 ?? (hourCycle ? hourCycle === "h12" : region.periods !== undefined);
  if (halves && !region.periods) return undefined;
  const days = fields.year && { month: "2-digit", day: "2-digit" };
  return {
    options: { timeZone, ...fields, ...days, ...(fields.hour && { hourCycle: halves ? "h12" : "h23" }) },
    arrange: (parts) => arrange(region, parts),
  };
}

function arrange({ order, between, then, periods }, parts) {
  const found = new Map(parts.map((part) => [part.type, part]));
  const dates = found.has("year") ? order.map((name) => found.get(name)) : [];
  const start = parts.findIndex(({ type }) => hms.includes(type));
  const times = start < 0 ? [] : parts.slice(start).map((part) => (
    part.type === "dayPeriod" ? { ...part, value: periods?.[part.value] ?? part.value } : part));
  const literal = (value) => ({ type: "literal", value });
  return [
    ...dates.flatMap((part, i) => (i === 0 ? [part] : [literal(between), part])),
    ...(dates.length > 0 && times.length > 0 ? [literal(then)] : []),
    ...times,
  ];
}
