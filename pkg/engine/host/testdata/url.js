const url = require("node:url");
const inputs = ["http://example.com", "HTTP://User:P%40ss@EXAMPLE.com:80/a/../b/./c?q=1&r=é#h é", "https://é.com/ü", "file:///C:/a b", "mailto:a@b.c", "data:text/plain,hi", "http://[::1]:8080/", "http://127.1/", "blob:https://a.b/c", "ws://h:443/?", "https://h:443/#", "a:b", "http://a/%zz%20", "nope", "http://", "http://a b/", "//x", "", "javascript:alert(1)", "http://a\\b\\c", "  http://x/  ", "http://h/\t\n"];
for (const input of inputs) {
  await show(`parse ${JSON.stringify(input)}`, () => { const u = new URL(input); return [u.href, u.origin, u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, u.search, u.hash]; });
}
await show("invalid has", () => { try { new URL("/x", "nope"); } catch (e) { return [e.code, e.input, e.base, e instanceof TypeError]; } });
await show("no arguments", () => new URL());
await show("base", () => [new URL("../x?y#z", "http://a/b/c/d").href, new URL("//h/p", "https://a").href, new URL("?q", "http://a/b").href, new URL("#f", new URL("http://a/b?c")).href, new URL("", "http://a/b?c#d").href]);
await show("set", () => {
  const u = new URL("http://a.com/p?q#h");
  u.protocol = "https"; u.host = "b.org:81"; u.pathname = "x y"; u.search = "k=v w"; u.hash = "z"; u.username = "me@"; u.password = "p:w"; u.port = "99999"; u.hostname = "c.d";
  return [u.href, (u.port = "", u.href), (u.href = "ftp://x/", u.href)];
});
await show("set bad href", () => { const u = new URL("http://a"); u.href = "nope"; });
await show("json", () => [JSON.stringify({ u: new URL("http://a/b") }), String(new URL("http://a")), URL.canParse("x"), URL.canParse("x", "http://a"), Object.prototype.toString.call(new URL("http://a"))]);
await show("params of url", () => {
  const u = new URL("http://a/?x=1&x=2&y=%20");
  u.searchParams.append("z", "ä&="); u.searchParams.delete("x", "1"); u.searchParams.set("y", "3");
  const first = u.href;
  u.search = "?new=1";
  return [first, [...u.searchParams], u.searchParams.size, u.searchParams === u.searchParams];
});
const inits = ["a=1&b=2", "?a=1", "a&b=&=c", "a=%zz&b=%C3%A9&c=%ff", "a+b=c+d", [["a", "1"], ["b", 2]], { x: 1, y: "é" }, new Map([["m", "n"]]), new URLSearchParams("q=r"), "", undefined, "a=1&a=2&&"];
for (const init of inits) await show(`params ${JSON.stringify(init)}`, () => { const p = new URLSearchParams(init); return [[...p], p.toString()]; });
await show("params of null", () => `${new URLSearchParams(null)}`);
await show("params bad tuple", () => new URLSearchParams([["a"]]));
await show("params bad iterable", () => new URLSearchParams([1]));
await show("params symbol", () => new URLSearchParams({ [Symbol.iterator]: 1 }));
await show("params methods", () => {
  const p = new URLSearchParams("b=2&a=1&b=3&c=4");
  const log = [p.get("b"), p.get("zz"), p.getAll("b"), p.has("a"), p.has("a", "2"), p.size];
  p.sort(); log.push(p.toString()); p.set("b", "9"); log.push(`${p}`); p.delete("c"); log.push([...p.keys()], [...p.values()]);
  p.forEach((v, k, self) => log.push([v, k, self === p]));
  return log;
});
await show("params encoding", () => new URLSearchParams({ a: "!'()*-._~ +%&=?/:@é😀\u0000" }).toString());
await show("params missing", () => new URLSearchParams().append("a"));
await show("fileURLToPath", () => [url.fileURLToPath("file:///a/b%20c.txt"), url.fileURLToPath(new URL("file:///tmp/%C3%A9"))]);
await show("fileURLToPath http", () => url.fileURLToPath("http://a/b"));
await show("fileURLToPath host", () => url.fileURLToPath("file://host/a"));
await show("fileURLToPath slash", () => url.fileURLToPath("file:///a%2Fb"));
await show("fileURLToPath bad", () => url.fileURLToPath(5));
await show("pathToFileURL", () => [url.pathToFileURL("/a b/c#d?e%f").href, url.pathToFileURL("/dir/").href, url.pathToFileURL("/é\\x\n").href]);
await show("urlToHttpOptions", () => { const o = url.urlToHttpOptions(new URL("https://u:p@[::1]:8443/a?b#c")); return [o.protocol, o.hostname, o.path, o.port, o.auth, o.hash, o.search, o.pathname, o.href]; });
await show("format", () => [url.format(new URL("http://u:p@a/b?c#d"), { auth: false, fragment: false, search: false }), url.format({ protocol: "https", hostname: "h", port: 1, pathname: "/p", query: { a: "b" } })]);
await show("domains", () => [url.domainToASCII("español.com"), url.domainToUnicode("xn--espaol-zwa.com"), url.domainToASCII("x y")]);
for (const input of ["http://u:p@h.com:80/a/b?c=d#e", "/a?b=c", "//h/p", "mailto:a@b", "http://x.y.com+a/b", ""]) await show(`legacy ${input}`, () => Object.entries(url.parse(input)).sort());
await show("legacy query", () => ({ ...url.parse("/a?b=c&b=d", true).query }));
await show("resolve", () => [url.resolve("/one/two/three", "four"), url.resolve("http://a.com/", "/one"), url.resolve("http://a.com/one", "../two")]);
await show("inspect", () => [require("util").inspect(new URL("http://a/?b=1")), require("util").inspect(new URLSearchParams("a=1"))]);
await show("keys", () => { const keys = []; for (const key in new URL("http://a")) keys.push(key); return keys.sort(); });
