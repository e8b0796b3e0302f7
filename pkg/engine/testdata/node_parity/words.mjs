// The order of words: with accents, cases, digits and punctuation.
const words = [
  "", "a", "A", "á", "Á", "ä", "Ä", "à", "b", "B", "z", "Z", "zoe", "Zoe", "Zoë", "anna", "Anna", "Ärger", "arger", "Arger", "bob", "Bob",
  "resume", "résumé", "Resume", "Résumé", "cote", "coté", "côte", "côté", "item1", "item2", "item10", "item 1", "item-1", "item_1",
  "item.1", "Item1", "1", "2", "10", "01", "1a", "a1", "a-b", "ab", "a b", "a_b", "a.b", "a,b", "co-op", "coop", "CO-OP", "!", "?", "-", "_",
  " ", "(a)", "[a]", "{a}", "#1", "$1", "€1", "%", "&", "+", "<", "=", "@", "~", "`", "^", "|", "\\", "/", "*", "'", '"', ";", ":",
  "straße", "strasse", "Straße", "æ", "ae", "ø", "o", "O", "ö", "ñ", "n", "N", "ł", "l", "đ", "d", "日本", "中国", "あ", "α", "Ω", "я", "а", "😀",
  "e\u0301", "é", "\ta", "\na", "a\u200bb", "tool_b", "tool_a", "toolA", "ToolB", "v1.2", "v1.10", "v1.9", "file 2.txt", "file 10.txt", "O'Neil",
  "ONeil", "co\u00adop", "aa", "AA", "aA", "Aa",
];
const signs = { "-1": "<", 0: "=", 1: ">" };
for (const [locale, options] of [
  ["en"], [undefined], ["en-US", {}], ["en", { numeric: true }], ["en-u-kn-true"], ["en", { sensitivity: "base" }], ["en", { sensitivity: "accent" }],
  ["en", { sensitivity: "case" }], ["en", { numeric: true, sensitivity: "base" }], ["en", { caseFirst: "upper" }], ["sv"], ["de-DE"], ["es"],
  ["fr"], ["pl"], ["tr"], ["nb"], ["cs"],
]) {
  const { compare } = new Intl.Collator(locale, options);
  console.log(locale, JSON.stringify(options), JSON.stringify(words.toSorted(compare)));
  if (options) for (const a of words) console.log(a, words.map((b, i) => (i % 11 === a.length ? signs[compare(a, b)] : "")).join(""));
}

// What is quick must be no other.
let seed = 1;
const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
const ascii = Array.from({ length: 150 }, () => String.fromCharCode(...Array.from({ length: random(5) }, () => 32 + random(95))));
for (const locale of [undefined, "nl"]) console.log(JSON.stringify(ascii.toSorted((a, b) => a.localeCompare(b, locale))));

console.log(["Zoe", "anna", "Ärger", "bob"].sort((a, b) => a.localeCompare(b)), "a".localeCompare("b"), "b".localeCompare("a"), "a".localeCompare());
console.log("item2".localeCompare("item10", undefined, { numeric: true }), "a".localeCompare("Á", "en", { sensitivity: "base" }));
console.log("z".localeCompare("ä", "sv"), "z".localeCompare("ä", ["de", "sv"]), "a\u0308".localeCompare("ä"));
console.log(new Intl.Collator("sv").resolvedOptions(), Intl.Collator("en-US", { numeric: true }).resolvedOptions());
console.log(Intl.Collator.supportedLocalesOf(["sv", "EN-us", "pt-BR"]), Intl.getCanonicalLocales(["EN-us", "iw", "zh-hant-tw"]));
console.log(String.prototype.localeCompare.length, String.prototype.localeCompare.name, `${new Intl.Collator()}`);
for (const wrong of [() => new Intl.Collator("e"), () => "a".localeCompare("b", "en_US"), () => new Intl.Collator("en", { sensitivity: "x" })]) {
  try { wrong() } catch (error) { console.log(`${error}`) }
}
