package engine

import "testing"

func TestAScriptWritesAndEnds(t *testing.T) {
	t.Parallel()
	if got := run(t, `process.stdout.write("hello\n"); console.log("a", 1, {b: [2]})`); got != "hello\na 1 { b: [ 2 ] }\n" {
		t.Errorf("stdout %q", got)
	}
}

func TestX(t *testing.T) {
	t.Log(run(t, `
function f() { throw new TypeError("boom") }
try { f() } catch (e) { console.log(e.stack); console.log(Object.getOwnPropertyNames(e)) }
try { null.x } catch (e) { console.log(e.stack) }
let n = 0;
function deep() { n++; deep() }
try { deep() } catch (e) { console.log(n, e instanceof RangeError, e.name, e.message, e.stack) }
class My extends Error { constructor(m){super(m);this.name="My";Error.captureStackTrace(this, My)} }
console.log(new My("hi").stack)
console.log(new My("hi"));
[1].forEach(() => console.log(new Error("inner").stack))
try { JSON.parse("{") } catch (e) { console.log(e.stack) }
try { host.x } catch (e) { console.log(e.stack) }
`))
	g := newRig(t, `setTimeout(() => { throw new RangeError("late") }, 5)`)
	t.Log(g.wait(), g.errs)
	g = newRig(t, `Promise.reject("foo")`)
	t.Log(g.wait(), g.errs)
	g = newRig(t, `Promise.reject(Object.assign(new Error("foo"), {code: 7}))`)
	t.Log(g.wait(), g.errs)
	g = newRig(t, `await new Promise(()=>{})`)
	t.Log(g.wait(), g.errs)
	g = newRig(t, `try { process.exit(3) } finally { console.log("no") }`)
	t.Log(g.wait(), g.out, g.errs)
	g = newRig(t, `const a = []; for(;;) a.push(new Array(1000).fill(1))`)
	t.Log(g.wait(), g.out, g.errs)
	g = newRig(t, `syntax error here`)
	t.Log(g.wait(), g.out, g.errs)
}
