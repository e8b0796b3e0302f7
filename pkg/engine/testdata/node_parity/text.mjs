// Text and bytes.
const decode = (label, options, ...pieces) => {
  try {
    const decoder = new TextDecoder(label, options);
    const texts = pieces.map((piece, i) => decoder.decode(Uint8Array.from(piece), { stream: i < pieces.length - 1 }));
    console.log(label, JSON.stringify(options), JSON.stringify(pieces), JSON.stringify(texts), decoder.encoding);
  } catch ({ name, code, message }) {
    console.log(label, JSON.stringify(options), JSON.stringify(pieces), name, code, message);
  }
};

const broken = [
  [0x61], [0xc3, 0xa9], [0xe2, 0x82, 0xac], [0xf0, 0x9f, 0x98, 0x80], [0xff], [0xc0, 0x80], [0xc3], [0xe2, 0x82], [0xe2, 0x28, 0xa1], [0xed, 0xa0, 0x80],
  [0xf0, 0x9f, 0x98], [0xf0, 0x9f, 0x41], [0xf5, 0x80, 0x80, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe0, 0x80, 0x80], [0xf0, 0x80, 0x80, 0x80], [0x80, 0x80], [0xe2, 0x82, 0x41, 0xff, 0xc3],
  [0xef, 0xbb, 0xbf, 0x61], [0xef, 0xbb], [0xef, 0xbb, 0xbf], [0xfe, 0xff], [],
];
for (const bytes of broken) {
  decode("utf-8", {}, bytes);
  decode("utf-8", { fatal: true }, bytes);
  decode("utf-8", { ignoreBOM: true }, bytes);
  for (let at = 1; at < bytes.length; at++) decode("utf-8", {}, bytes.slice(0, at), bytes.slice(at));
  decode("utf-8", {}, ...bytes.map((byte) => [byte]), []);
  console.log(JSON.stringify(Buffer.from(bytes).toString()), JSON.stringify(Buffer.from(bytes).toString("latin1")), Buffer.from(bytes).toString("hex"));
}
for (const bytes of [[0x61, 0], [0x3d, 0xd8, 0, 0xde], [0x3d, 0xd8], [0, 0xde, 0x61, 0], [0x61], [0xff, 0xfe, 0x61, 0], [0x3d, 0xd8, 0x61]]) {
  decode("utf-16le", {}, bytes);
  decode("utf-16le", { fatal: true }, bytes);
  decode("utf-16le", {}, ...bytes.map((byte) => [byte]), []);
}
for (const label of ["utf8", " UTF-8 ", "unicode-1-1-utf-8", "utf-16", "ucs-2", "klingon", ""]) decode(label, {}, [0x61, 0x62]);
decode("windows-1252", {}, [0x41, 0xe9, 0xff]);

for (const text of ["", "a", "h\u00e9", "\u20ac", "\ud83d\ude00", "\ud800", "a\udc00b", "\0", "\ufeff"]) {
  const bytes = new TextEncoder().encode(text);
  console.log(JSON.stringify(text), [...bytes].join(), Buffer.byteLength(text), JSON.stringify(Buffer.from(text).toString()), text.isWellFormed() && Buffer.from(text, "latin1").toString("hex"));
}
for (const text of ["", "aGk=", "aGk", "a", "aG", "aGk==", "-_-_", "+/+/", "a G k", "aG\nk=", "aGk=aGk=", "****", "YQ==YQ==", "\u00e9aGk"]) {
  console.log(JSON.stringify(text), Buffer.from(text, "base64").toString("hex"), Buffer.from(text, "base64url").toString("hex"));
}
for (const text of ["", "61", "6", "616", "6z61", "zz", "6 1", "AbCd", "\u00e961"]) console.log(JSON.stringify(text), Buffer.from(text, "hex").toString("hex"));
for (const bytes of [[], [0], [0, 255], [0xfb, 0xff, 0xfe], [1, 2, 3, 4]]) {
  const buffer = Buffer.from(bytes);
  console.log(buffer.toString("base64"), buffer.toString("base64url"), buffer.toString("hex"), JSON.stringify(buffer.toString("latin1")), JSON.stringify(buffer.toString("ascii")));
}
