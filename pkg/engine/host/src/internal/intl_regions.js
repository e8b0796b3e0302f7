/** Numeric dates and times in regions other than the United States. @module */

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

/** Returns the fields that styles and defaults stand for; undefined if any is not numeric. */
function fieldsOf({ dateStyle, timeStyle, ...fields }) {
  if (dateStyle !== undefined) {
    if (dateStyle !== "short") return undefined;
    Object.assign(fields, numeric(ymd));
  }
  if (timeStyle !== undefined) {
    if (timeStyle !== "short" && timeStyle !== "medium") return undefined;
    Object.assign(fields, numeric(timeStyle === "short" ? hms.slice(0, 2) : hms));
  }
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  if (given.length === 0) return numeric(ymd);
  const known = given.every(([name, value]) => [...ymd, ...hms].includes(name) && ["numeric", "2-digit"].includes(value));
  const days = ymd.filter((name) => fields[name] !== undefined).length;
  return known && days % ymd.length === 0 ? Object.fromEntries(given) : undefined;
}

/**
 * Returns the options to format with in English, and a function that arranges the formatted parts for the region; undefined if the
 * region or the options are not supported.
 * @param {string} name of the locale
 */
export function regional(name, { timeZone, hour12, hourCycle, localeMatcher: _, ...rest } = {}) {
  const region = regions[name];
  const fields = region && fieldsOf(rest);
  if (!fields || ![undefined, "h12", "h23"].includes(hourCycle)) return undefined;
  const twelveHours = hour12 ?? (hourCycle ? hourCycle === "h12" : region.periods !== undefined);
  if (twelveHours && !region.periods) return undefined;
  const days = fields.year && { month: "2-digit", day: "2-digit" };
  return {
    options: { timeZone, ...fields, ...days, ...(fields.hour && { hourCycle: twelveHours ? "h12" : "h23" }) },
    arrange: (parts) => arrange(region, parts),
  };
}

function arrange({ order, between: separator, then: beforeTime, periods }, parts) {
  const found = new Map(parts.map((part) => [part.type, part]));
  const dates = found.has("year") ? order.map((name) => found.get(name)) : [];
  const start = parts.findIndex(({ type }) => hms.includes(type));
  const times = start < 0 ? [] : parts.slice(start).map((part) => (
    part.type === "dayPeriod" ? { ...part, value: periods?.[part.value] ?? part.value } : part));
  const literal = (value) => ({ type: "literal", value });
  return [
    ...dates.flatMap((part, i) => (i === 0 ? [part] : [literal(separator), part])),
    ...(dates.length > 0 && times.length > 0 ? [literal(beforeTime)] : []),
    ...times,
  ];
}
