// What functions say their text is.
const outer = (a = () => "a default", { b = function inner() { return `é ${(() => 1)()}`; } } = {}) => [a, b];
class Shape extends Array {
  static #count = 0;
  static { Shape.made = () => ++Shape.#count; }
  side = () => this.#area;
  #area = 2;
  constructor(...all) { super(...all); }
  get area() { return this.#area; }
  set area(v) { this.#area = v; }
  static async *all() { yield* []; }
  ["computed" + 1]() {}
  'quoted name'() {}
}
class Bare {}
const object = { plain() {}, async wait() {}, *some() {}, async *later() {}, get it() { return 1; }, arrow: async x => x, old: function () {} };
function same() {} { function same() { /* the other one */ } object.other = same; }
const twins = [() => {}, () => {}, function () {}, function () {}];
const made = [new Function("a", "b", "return a"), eval("(c) => c"), (0, eval)("(function named() { return 'ü' })")];
const descriptor = (of, name) => Object.getOwnPropertyDescriptor(of, name);
const shape = new Shape();
const all = [
  outer, ...outer(), ...outer(undefined, {}), Shape, Bare, Shape.made, shape.side, descriptor(Shape.prototype, "area").get, descriptor(Shape.prototype, "area").set,
  Shape.all, shape.computed1, shape["quoted name"], ...Object.values(object).filter((x) => typeof x === "function"), descriptor(object, "it").get,
  same, ...twins, ...made, class {}, class { a = 1 }, (() => { "use strict"; return this; }), async () => { await 0; },
];
for (const f of all) console.log(f.name, "|", String(f), "|", f + "" === Function.prototype.toString.call(f));
for (const f of [Math.max, Function.prototype.toString, parseInt, Array.prototype.map]) console.log(/\[native code\]/.test(f), String(f).split("(")[0]);
for (const x of [{}, null, undefined, 1, "f", Object.create(outer)]) try { console.log(Function.prototype.toString.call(x)); } catch (e) { console.log(e.name); }
const { writable, enumerable, configurable, value } = descriptor(Function.prototype, "toString");
console.log(writable, enumerable, configurable, value.length, value.name, Object.keys(Function.prototype), "prototype" in value);
console.log(new Proxy(outer, {}) instanceof Function, typeof String(new Proxy(outer, {})));
console.log(eval(`(${all.at(-1)})`)() instanceof Promise, new Function(`return (${outer})`)()()[0]());
