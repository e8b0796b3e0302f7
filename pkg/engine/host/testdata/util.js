const util = require("node:util");
const { inspect, format } = util;
class Point { constructor() { this.x = 1; } get y() { return 2; } static z = 3; }
const circular = { name: "c" };
circular.self = circular;
const values = {
  string: "it's", both: "it's \"x\"", newline: "a\nb", number: -0, float: 1.5, bigint: 10n, nan: NaN, null: null, undefined: undefined, true: true,
  symbol: Symbol("s"), date: new Date(0), baddate: new Date(NaN), regexp: /a\/b/gi, array: [1, "a", [2, [3, [4, [5]]]]], sparse: [1, , 3], empty: [], object: {}, nested: { a: { b: { c: { d: 1 } } } },
  map: new Map([["k", { v: 1 }], [{}, 2]]), set: new Set([1, "b"]), point: new Point(), cls: Point, sub: class A extends Point {}, fn: function f() {}, arrow: () => {}, anon: (() => () => {})(), async: async () => {}, gen: function* g() {},
  boxed: [Object(1), Object("s"), Object(true), Object(1n)], nullproto: Object.assign(Object.create(null), { a: 1 }), circular, buffer: Buffer.from("hi"), u8: new Uint8Array([1, 2]), f64: new Float64Array([0.5]), getter: { get a() { return 1; }, set b(v) {}, get c() { return 1; }, set c(v) {} },
  quoted: { "a-b": 1, 2: 3 }, long: Array.from({ length: 120 }, (_, i) => i), strs: ["aaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "cccccccccccccccccccccccc"], longstr: "x".repeat(200), multi: { text: "line1\nline2\nline3", other: "y".repeat(60) },
  weak: new WeakMap(), args: (function () { return arguments; })(1, 2), extra: Object.assign([1], { k: 2 }), fnprops: Object.assign(() => {}, { a: 1 }),
};
for (const [name, value] of Object.entries(values)) await show(`inspect ${name}`, () => inspect(value));
await show("inspect options", () => [inspect({ a: { b: { c: {} } } }, { depth: 0 }), inspect({ a: { b: { c: { d: 1 } } } }, false, null), inspect([1, 2, 3], { maxArrayLength: 1 }), inspect("abcdef", { maxStringLength: 3 }), inspect({ b: 1, a: 2 }, { sorted: true }), inspect({ a: [1, { b: 2 }] }, { compact: false }), inspect({ a: 1, b: "x" }, { colors: true }), inspect(123456789.12, { numericSeparator: true }), inspect({ get a() { return 5; } }, { getters: true }), inspect({ a: 1, b: 2 }, { breakLength: 3 })]);
await show("inspect hidden", () => inspect(Object.defineProperty({}, "h", { value: 1 }), { showHidden: true }));
await show("inspect custom", () => inspect({ [inspect.custom]: (depth, options) => `<${depth} ${typeof options.stylize}>` }));
await show("inspect custom object", () => inspect({ a: { [inspect.custom]: () => ({ shown: 1 }) } }));
await show("inspect throwing getter", () => inspect({ get a() { throw new Error("x"); } }));
await show("format", () => [format("%s %d %i %f %j %o %O %c %%", "a", "1.5", "2.7", "3.5x", { a: 1 }, [1], { b: { c: 1 } }, "css"), format("a", "b", { c: 1 }), format(1, 2, "3"), format("%s", null, undefined), format("%s", { toString() { return "custom"; } }), format("%s", Symbol("q")), format("%d", 10n), format("%x", 1), format("100%"), format("%s %s", "one"), format(), format("%s", [1, [2]]), format("%s", -0), format("%j", circular)]);
await show("formatWithOptions", () => util.formatWithOptions({ colors: true }, "%s %O", "a", { b: 1 }));
await show("promisify", async () => [await util.promisify((a, cb) => cb(null, a + 1))(1), await util.promisify(Object.assign((cb) => cb(), { [util.promisify.custom]: () => Promise.resolve("custom") }))()]);
await show("promisify rejects", () => util.promisify((cb) => cb(new RangeError("no")))());
await show("promisify timers", async () => await util.promisify(setTimeout)(1, "v"));
await show("promisify bad", () => util.promisify("x"));
await show("callbackify", () => new Promise((resolve) => util.callbackify(async (a) => a * 2)(4, (error, value) => resolve([error, value]))));
await show("callbackify rejects", () => new Promise((resolve) => util.callbackify(() => Promise.reject(null))((error) => resolve([error.message, error.code, error.reason]))));
await show("deepEqual", () => [util.isDeepStrictEqual({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }), util.isDeepStrictEqual([1], ["1"]), util.isDeepStrictEqual(NaN, NaN), util.isDeepStrictEqual(0, -0), util.isDeepStrictEqual(new Map([[1, new Set([2])]]), new Map([[1, new Set([2])]])), util.isDeepStrictEqual(new Date(0), new Date(0)), util.isDeepStrictEqual(/a/g, /a/i), util.isDeepStrictEqual(new Error("a"), new Error("b")), util.isDeepStrictEqual({}, Object.create(null)), util.isDeepStrictEqual(new Uint8Array([1]), new Uint8Array([1])), util.isDeepStrictEqual(new Set([{ a: 1 }]), new Set([{ a: 1 }])), util.isDeepStrictEqual(Object(1), Object(1)), util.isDeepStrictEqual({ [Symbol.for("a")]: 1 }, { [Symbol.for("a")]: 2 })]);
await show("parseArgs", () => util.parseArgs({ args: ["-f", "--bar", "b", "--no-color", "pos", "--", "-x"], options: { foo: { type: "boolean", short: "f" }, bar: { type: "string", default: "q" }, "no-color": { type: "boolean" }, list: { type: "string", multiple: true, default: ["d"] } }, allowPositionals: true }));
await show("parseArgs unknown", () => util.parseArgs({ args: ["--nope"], options: {} }));
await show("parseArgs positional", () => util.parseArgs({ args: ["nope"], options: {} }));
await show("parseArgs missing", () => util.parseArgs({ args: ["--a"], options: { a: { type: "string" } } }));
await show("styleText", () => [util.styleText("red", "x"), util.styleText("red", "x", { validateStream: false }), util.styleText(["bold", "underline"], "y", { validateStream: false })]);
await show("styleText bad", () => { try { util.styleText("nope", "x"); } catch (error) { return [error.code, error.message.slice(0, 70)]; } });
await show("strip", () => util.stripVTControlCharacters("\u001b[31mred\u001b[39m"));
await show("inherits", () => { function A() {} function B() {} B.prototype.hi = () => 1; util.inherits(A, B); return [new A().hi(), A.super_ === B]; });
await show("deprecate", () => { const f = util.deprecate((a) => a + 1, "old"); process.removeAllListeners("warning"); return typeof f; });
await show("toUSVString", () => util.toUSVString("a\ud800").codePointAt(1));
await show("aborted", async () => { const c = new AbortController(); setTimeout(() => c.abort(), 1); await util.aborted(c.signal, {}); return "done"; });
await show("debuglog", () => [typeof util.debuglog("x"), util.debuglog("x").enabled]);
await show("classes", () => [util.TextEncoder === TextEncoder, util.TextDecoder === TextDecoder, typeof util.types.isDate, require("util/types") === util.types]);
const things = { date: new Date(), regexp: /x/, map: new Map(), set: new Set(), weakmap: new WeakMap(), weakset: new WeakSet(), promise: Promise.resolve(), error: new TypeError(), ab: new ArrayBuffer(1), sab: new SharedArrayBuffer(1), dv: new DataView(new ArrayBuffer(1)), u8: new Uint8Array(1), buf: Buffer.alloc(1), bi: new BigInt64Array(1), num: Object(1), str: Object("s"), bool: Object(true), sym: Object(Symbol()), big: Object(1n), fn() {}, async: async () => {}, gen: function* () {}, asyncgen: async function* () {}, genobj: (function* () {})(), mapit: new Map().keys(), setit: new Set().values(), args: (function () { return arguments; })(), fakeDate: { __proto__: Date.prototype }, fakeMap: { __proto__: Map.prototype }, thenable: { then() {} }, plain: {}, nil: null, text: "x", taggedDate: { [Symbol.toStringTag]: "Date" } };
for (const [name, value] of Object.entries(things)) {
  await show(`types ${name}`, () => Object.keys(util.types).sort().filter((test) => !/Proxy|External|KeyObject|CryptoKey|Eventsource/.test(test) && util.types[test](value)));
}
await show("old tests", () => [...Object.keys(util).filter((name) => /^is[A-Z]/.test(name) && name !== "isDeepStrictEqual").sort().map((name) => `${name} ${[1, "a", null, undefined, {}, [], /x/, new Date(0), new Error(), () => {}, Symbol.iterator, true, Buffer.alloc(1)].map((v) => Number(util[name](v))).join("")}`), typeof util._extend, util._extend({ a: 1 }, { b: 2 })]);
await show("debug of hostile", () => inspect({ constructor: null, toString: null, toJSON: 1, __proto__: { constructor: { name: 5 } } }));
