const path = require("node:path");
const { posix, win32 } = path;
await show("shape", () => [path === posix, path.posix === posix, path.win32 === win32, path.sep, path.delimiter, require("path/posix") === posix, require("node:path/win32") === win32]);
const samples = ["", ".", "/", "a", "/a/b/../c.txt", "a//b", "../x/./y/", "/foo/bar.tar.gz", ".bashrc", "a.", "C:\\a\\b.txt", "\\\\srv\\share\\f", "C:x", "a/b\\c", "é/ü.png", "..", "/.."];
for (const [name, p] of [["posix", posix], ["win32", win32]]) {
  for (const s of samples) {
    await show(`${name} ${s}`, () => [p.normalize(s), p.dirname(s), p.basename(s), p.extname(s), p.isAbsolute(s), p.parse(s), p.basename(s, ".txt"), p.format(p.parse(s)), p.toNamespacedPath(s).length > 0 || s]);
  }
  await show(`${name} join`, () => [p.join("a", "..", "b", "/c"), p.join(), p.join("", "x"), p.join("/a", "../../b")]);
  await show(`${name} relative`, () => [p.relative("/a/b/c", "/a/d"), p.relative("/a", "/a"), p.relative("/a/b", "/a/b/c/d")]);
  await show(`${name} bad`, () => p.join("a", 1));
  await show(`${name} bad basename`, () => p.basename(undefined));
}
await show("resolve", () => [posix.resolve("/a", "b", "../c"), posix.resolve("/a", "/b"), win32.resolve("C:\\a", "..\\b"), win32.relative("C:\\a\\b", "C:\\a\\c")]);
