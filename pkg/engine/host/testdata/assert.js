const assert = require("node:assert");
const strict = require("node:assert/strict");
await show("shape", () => [typeof assert, assert.strict === strict, strict.equal === assert.strictEqual, strict.strict === strict, assert.AssertionError.name]);
const cases = {
  ok: () => assert(true), okFalse: () => assert.ok(0, "mine"), okError: () => assert(false, new TypeError("own")),
  equal: () => assert.equal(1, "1"), notEqual: () => assert.notEqual(1, 1), strictEqual: () => assert.strictEqual(1, 2), strictEqualText: () => assert.strictEqual("a\nb\nc", "a\nx\nc"),
  strictEqualTypes: () => assert.strictEqual(1, "1"), notStrictEqual: () => assert.notStrictEqual(1, 1),
  deepStrictEqual: () => assert.deepStrictEqual({ a: 1, b: [1, 2] }, { a: 1, b: [1, 3] }), deepEqualLoose: () => assert.deepEqual({ a: 1 }, { a: "1" }), deepStrictOk: () => assert.deepStrictEqual(new Map([[1, { a: 2 }]]), new Map([[1, { a: 2 }]])), notDeepStrictEqual: () => assert.notDeepStrictEqual({ a: 1 }, { a: 1 }),
  deepNaN: () => assert.deepStrictEqual([NaN], [NaN]), deepZero: () => assert.deepEqual(0, -0), deepStrictZero: () => assert.deepStrictEqual(0, -0),
  throws: () => assert.throws(() => { throw new TypeError("bad value"); }, TypeError), throwsRegExp: () => assert.throws(() => { throw new Error("bad value"); }, /bad/), throwsObject: () => assert.throws(() => { throw Object.assign(new Error("m"), { code: "C" }); }, { message: "m", code: "C" }), throwsNot: () => assert.throws(() => {}), throwsOther: () => assert.throws(() => { throw new Error("x"); }, /y/), throwsMessage: () => assert.throws(() => {}, TypeError, "wanted"),
  doesNotThrow: () => assert.doesNotThrow(() => { throw new Error("x"); }), rejects: () => assert.rejects(Promise.reject(new Error("r")), /r/), rejectsNot: () => assert.rejects(Promise.resolve(1)), doesNotReject: () => assert.doesNotReject(Promise.reject(new Error("r"))),
  match: () => assert.match("abc", /b/), matchNot: () => assert.match("abc", /x/), doesNotMatch: () => assert.doesNotMatch("abc", /b/), fail: () => assert.fail(), failMessage: () => assert.fail("why"), ifError: () => assert.ifError(new Error("e")), ifErrorNull: () => assert.ifError(null),
  notFunction: () => assert.throws("x"),
};
for (const [name, fn] of Object.entries(cases)) await show(name, fn);
await show("properties", () => { try { assert.strictEqual(1, 2); } catch (e) { return [e instanceof Error, e instanceof assert.AssertionError, e.actual, e.expected, e.operator, e.generatedMessage, e.code, e.name]; } });
await show("own", () => { const e = new assert.AssertionError({ actual: 1, expected: 2, operator: "strictEqual" }); return [e.message, e.code]; });
