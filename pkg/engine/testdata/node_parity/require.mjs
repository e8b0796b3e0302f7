// What can be required by a function that was made for it.
import { createRequire } from "node:module";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const dir = join(process.cwd(), "required");
mkdirSync(join(dir, "folder"), { recursive: true });
writeFileSync(join(dir, "a.json"), '\ufeff{"a": [1, "ä"]}');
writeFileSync(join(dir, "folder", "index.json"), "7");
writeFileSync(join(dir, "broken.json"), "{");
symlinkSync("a.json", join(dir, "link.json"));
const require = createRequire(pathToFileURL(join(dir, "main.mjs")));
const say = (make) => {
  try { console.log(make()) } catch (e) { console.log(e.name, e.code, e.code ? e.message : e.message.split(": ")[0], e.requireStack) }
};
say(() => require("./a.json"));
say(() => require("./a"));
say(() => require("../required/a.json") === require(join(dir, "a.json")));
say(() => require("./link.json") === require("./a.json"));
say(() => require("./folder"));
say(() => createRequire(`${dir}/`)("./a.json").a.length);
say(() => require("./broken.json"));
say(() => require("./nowhere.json"));
say(() => require("./folder/"));
say(() => [require.resolve("./a.json"), require.resolve("./link"), require.resolve("./folder"), require.resolve("node:fs"), require.resolve("fs")]);
say(() => require.resolve("./nowhere.js"));
say(() => Object.keys(require.cache).filter((path) => path.startsWith(dir)));
say(() => require("path") === require("node:path") && require("node:path").join("a", "b"));
say(() => require(1));
