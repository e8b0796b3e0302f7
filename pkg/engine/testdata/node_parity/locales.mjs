// Dates and numbers where they are written in other ways, and the parts of Intl that are small.
const afternoon = new Date(Date.UTC(2026, 6, 3, 15, 4, 5)), night = new Date(Date.UTC(2026, 11, 31, 0, 4, 5));
const say = (...x) => console.log(...x.map((y) => (typeof y === "string" ? y.replaceAll("\u202f", " ").replaceAll("\u00a0", " ") : y)));
for (const locale of ["sv-SE", "sv", "en-CA", "en-GB", ["en-GB", "de"]]) {
  for (const when of [afternoon, night]) {
    for (const options of [
      {}, { dateStyle: "short" }, { timeStyle: "short" }, { timeStyle: "medium" }, { dateStyle: "short", timeStyle: "short" },
      { year: "numeric", month: "2-digit", day: "2-digit" }, { year: "2-digit", month: "numeric", day: "numeric" },
      { hour: "2-digit", minute: "2-digit" }, { hour: "numeric" }, { hour12: when === night ? undefined : false }, { hourCycle: "h23" }, { timeZone: "Asia/Tokyo" },
    ]) {
      const utc = { timeZone: "UTC", ...options };
      if (!options.dateStyle && !options.timeStyle) say(when.toLocaleString(locale, utc));
      if (!options.timeStyle) say(when.toLocaleDateString(locale, utc));
      if (!options.dateStyle) say(when.toLocaleTimeString(locale, utc));
      const format = new Intl.DateTimeFormat(locale, utc);
      say(locale, JSON.stringify(options), format.format(when), format.formatToParts(when).map((p) => p.type).join(), format.resolvedOptions().locale);
    }
  }
}
say((1234567.891).toLocaleString("en-GB"), new Intl.NumberFormat("en-AU", { style: "percent" }).format(0.5));

for (const options of [{}, { type: "ordinal" }, { minimumFractionDigits: 1 }]) {
  const rules = new Intl.PluralRules("en-US", options);
  say(JSON.stringify(options), [0, 1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 101, 111, 1.5, -1].map((n) => `${n} ${rules.select(n)}`).join());
}
for (const type of ["conjunction", "disjunction", "unit"]) {
  for (const style of ["long", "short", "narrow"]) {
    const list = new Intl.ListFormat("en", { type, style });
    for (const items of [[], ["a"], ["a", "b"], ["a", "b", "c"], "abcd"]) say(type, style, list.format(items), JSON.stringify(list.formatToParts(items)));
  }
}
for (const wrong of [() => new Intl.ListFormat("en").format([1]), () => new Intl.ListFormat("en", { type: "x" }), () => new Intl.PluralRules("en", { type: "x" })]) {
  try { wrong() } catch (error) { say(`${error}`) }
}
say(new Intl.ListFormat("en", { style: "short" }).resolvedOptions());
say(`${new Intl.Segmenter()}`, typeof new Intl.RelativeTimeFormat("en"), Object.prototype.toString.call(new Intl.DisplayNames("en", { type: "region" })));
say(Intl.DateTimeFormat.supportedLocalesOf(["en-GB", "EN-us"]), Intl.ListFormat.supportedLocalesOf("en"));
