// What a function's source is, which tools send to a page, and packages look at.
function named(a, { b = 1 } = {}) { /* a comment */ return a + b; }
const arrow = async (x) => ({ x, y: `é${x}` });
class Shape { #size = 1; static make() { return new Shape(); } get size() { return this.#size; } *[Symbol.iterator]() { yield "\u{1F600} 😀"; } }
const { size } = Object.getOwnPropertyDescriptors(Shape.prototype);
const object = { method(a,b) { return a ?? b }, async *gen() {} };
for (const f of [named, arrow, Shape, Shape.make, size.get, Shape.prototype[Symbol.iterator], object.method, object.gen, new Function("a", "b", "return a - b")])
  console.log(String(f));
console.log(eval(`(${arrow})`)(2) instanceof Promise, new Function(`return (${named})`)()(1));
for (const f of [Math.max, [].map, named.bind(null)]) console.log(/\[native code\]/.test(String(f)));
