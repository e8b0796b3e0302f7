// Waits for a Verdaccio, and adds a user and packages to it by the protocol of npm: node packages.mjs URL
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";

const [url] = process.argv.slice(2);
const packages = [
  ["corner-cart", ["1.0.0", "1.1.0", "2.0.0"], "The cart of the corner shop", ["shop", "cart"], { "paper-bag": "^3.0.0" }],
  ["corner-till", ["0.9.0"], "The till of the corner shop", ["shop"]],
  ["paper-bag", ["3.2.1"], "Holds what was bought", ["bag"]],
];

async function send(method, path, body, token) {
  const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
  const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** Returns a tar archive with one file. */
function archive(name, text) {
  const header = Buffer.alloc(512);
  header.write(name);
  header.write("0000644\0", 100);
  header.write("0000000\0", 108);
  header.write("0000000\0", 116);
  header.write(text.length.toString(8).padStart(11, "0") + "\0", 124);
  header.write("00000000000\0", 136);
  header.write("        ", 148);
  header.write("0", 156);
  header.write("ustar\0" + "00", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(sum.toString(8).padStart(6, "0") + "\0 ", 148);
  const content = Buffer.alloc(Math.ceil(text.length / 512) * 512);
  content.write(text);
  return gzipSync(Buffer.concat([header, content, Buffer.alloc(1024)]));
}

async function publish(name, version, { description, keywords, dependencies }, token) {
  const readme = `# ${name}\n\n${description}.`;
  const manifest = { name, version, description, keywords, dependencies, readme, license: "MIT" };
  const data = archive("package/package.json", JSON.stringify(manifest));
  const file = `${name}-${version}.tgz`;
  const dist = {
    shasum: createHash("sha1").update(data).digest("hex"),
    integrity: "sha512-" + createHash("sha512").update(data).digest("base64"),
    tarball: `${url}/${name}/-/${file}`,
  };
  await send(
    "PUT",
    `/${name}`,
    {
      _id: name,
      name,
      description,
      readme,
      "dist-tags": { latest: version },
      versions: { [version]: { ...manifest, _id: `${name}@${version}`, dist } },
      _attachments: { [file]: { content_type: "application/octet-stream", data: data.toString("base64"), length: data.length } },
    },
    token,
  );
}

for (;;) {
  try {
    await fetch(url + "/-/ping");
    break;
  } catch {
    await new Promise((done) => setTimeout(done, 100));
  }
}
const user = { name: "ann", password: process.env.PASSWORD };
const { token } = await send("PUT", "/-/user/org.couchdb.user:ann", user);
for (const [name, versions, description, keywords, dependencies] of packages)
  for (const version of versions) await publish(name, version, { description, keywords, dependencies }, token);
