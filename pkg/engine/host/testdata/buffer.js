const { Buffer, isUtf8, isAscii, transcode } = require("node:buffer");
const text = "aé€😀\u0000z";
for (const encoding of ["utf8", "utf-8", "hex", "base64", "base64url", "latin1", "binary", "ascii", "utf16le", "ucs2", "UTF8"]) {
  await show(`to ${encoding}`, () => Buffer.from(text).toString(encoding));
  await show(`from ${encoding}`, () => [...Buffer.from("YWJj-_é4a", encoding)]);
  await show(`byteLength ${encoding}`, () => Buffer.byteLength("abcd", encoding));
  await show(`isEncoding ${encoding}`, () => Buffer.isEncoding(encoding));
}
for (const data of ["YQ==", "YQ", "Y", "YQ==YQ==", "Y Q=\n=", "-_-_", "!!!!", "YQ*==", "=", ""]) {
  await show(`base64 ${JSON.stringify(data)}`, () => [...Buffer.from(data, "base64")]);
}
for (const data of ["abc", "zz", "0g11", "ABcd", ""]) await show(`hex ${data}`, () => [...Buffer.from(data, "hex")]);
for (const bytes of [[0xff], [0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x98], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xef, 0xbb, 0xbf, 65], [0xf4, 0x90, 0x80, 0x80], [65, 0xe2, 66]]) {
  await show(`invalid ${bytes}`, () => Buffer.from(bytes).toString());
}
await show("lone surrogate", () => [...Buffer.from("\ud800a\udc00")]);
await show("isEncoding nope", () => [Buffer.isEncoding("nope"), Buffer.isEncoding(""), Buffer.isEncoding(null), Buffer.isEncoding("constructor")]);
await show("alloc", () => [[...Buffer.alloc(3)], [...Buffer.alloc(5, "ab")], [...Buffer.alloc(3, 7)], [...Buffer.alloc(3, "YQ", "base64")]]);
await show("alloc -1", () => { try { Buffer.alloc(-1); } catch (e) { return [e.name, e.code]; } });
await show("alloc string", () => Buffer.alloc("3"));
await show("from number", () => Buffer.from(3));
await show("from null", () => Buffer.from(null));
await show("from undefined", () => Buffer.from(undefined));
await show("from unknown encoding", () => Buffer.from("a", "nope"));
await show("toString unknown encoding", () => Buffer.from("a").toString("nope"));
await show("from array", () => [...Buffer.from([1, 256, -1, 3.7, "5", NaN])]);
await show("from arraybuffer", () => {
  const ab = new Uint8Array([1, 2, 3, 4]).buffer;
  const b = Buffer.from(ab, 1, 2);
  b[0] = 9;
  return [[...b], [...new Uint8Array(ab)], b.byteOffset];
});
await show("from buffer copies", () => {
  const a = Buffer.from("abc");
  const b = Buffer.from(a);
  b[0] = 0x7a;
  return [a.toString(), b.toString()];
});
await show("from object", () => [Buffer.from(new String("hi")).toString(), Buffer.from({ type: "Buffer", data: [104] }).toString(), Buffer.from({ length: 2, 0: 65, 1: 66 }).toString()]);
await show("concat", () => [Buffer.concat([Buffer.from("a"), new Uint8Array([98]), Buffer.from("c")]).toString(), Buffer.concat([Buffer.from("abc")], 2).toString(), Buffer.concat([Buffer.from("a")], 3).toString("hex"), Buffer.concat([]).length]);
await show("concat not a list", () => Buffer.concat("a"));
await show("slice", () => {
  const b = Buffer.from("hello");
  const s = b.slice(1, -1);
  s[0] = 0x45;
  return [s.toString(), b.toString(), b.subarray(-2).toString(), b.subarray(2) instanceof Buffer, b.slice(9).length];
});
await show("write", () => {
  const b = Buffer.alloc(8);
  return [b.write("aé€", 1), b.write("zzzz", 6), b.write("ff00", 0, "hex"), b.write("é", 7), b.toString("hex"), b.write("abc", 2, 2), b.toString("hex")];
});
await show("write cuts no character", () => {
  const b = Buffer.alloc(4);
  return [b.write("aé€"), b.toString("hex"), b.write("😀", 1), b.toString("hex")];
});
await show("write out of range", () => Buffer.alloc(2).write("a", 3));
await show("toString ranges", () => {
  const b = Buffer.from("hello");
  return [b.toString("utf8", 1, 3), b.toString("utf8", -5, 99), b.toString("utf8", 3, 1), b.toString(undefined, 2), b.toString("latin1", 1), b.toString("hex", 4), b.toString("utf8", NaN, 2)];
});
await show("numbers", () => {
  const b = Buffer.alloc(40);
  b.writeUInt8(255, 0); b.writeInt16BE(-2, 1); b.writeUInt32LE(0xdeadbeef, 3); b.writeDoubleBE(1.5, 7); b.writeBigInt64LE(-5n, 15); b.writeFloatLE(0.5, 23); b.writeUIntBE(0x123456, 27, 3); b.writeBigUInt64BE(7n, 30);
  return [b.toString("hex"), b.readUInt8(0), b.readInt16BE(1), b.readUInt32LE(3), b.readDoubleBE(7), b.readBigInt64LE(15), b.readFloatLE(23), b.readUIntBE(27, 3), b.readBigUInt64BE(30), b.readUint8(0)];
});
await show("compare", () => [Buffer.compare(Buffer.from("a"), Buffer.from("b")), Buffer.from("b").compare(Buffer.from("a")), Buffer.from("a").equals(new Uint8Array([97])), [Buffer.from("c"), Buffer.from("a")].sort(Buffer.compare).map(String)]);
await show("search", () => {
  const b = Buffer.from("hello world hello");
  return [b.indexOf("hello", 1), b.lastIndexOf("hello"), b.includes("wor"), b.indexOf(111), b.indexOf(Buffer.from("ld")), b.indexOf("zz"), b.indexOf("")];
});
await show("fill", () => [Buffer.alloc(4).fill("ab").toString(), Buffer.alloc(4).fill("é", 1).toString("hex"), Buffer.alloc(3).fill(1, 1, 2).toString("hex")]);
await show("search more", () => {
  const b = Buffer.from("abcabcé");
  return [b.indexOf("c", -3), b.indexOf("bc", 2), b.indexOf("é"), b.indexOf("e9", "latin1"), b.indexOf("6263", 0, "hex"), b.lastIndexOf("bc"), b.lastIndexOf("bc", 3), b.lastIndexOf("bc", -7), b.lastIndexOf(97, 2), b.lastIndexOf("zz"), b.includes("abcé"), b.indexOf("a", 99), b.indexOf("a", {}), b.lastIndexOf("b", undefined), b.lastIndexOf("b", null), b.indexOf(99.9), b.indexOf(-159)];
});
await show("search for nothing", () => Buffer.from("a").indexOf({}));
await show("compare ranges", () => [Buffer.from("abc").compare(Buffer.from("xbc"), 1, 3, 1, 3), Buffer.from("ab").compare(Buffer.from("abc")), Buffer.from([255]).compare(Buffer.from([1])), Buffer.compare(Buffer.from("é"), Buffer.from("z"))]);
await show("compare bad", () => Buffer.compare("a", Buffer.from("a")));
await show("equals bad", () => Buffer.from("a").equals("a"));
await show("fill more", () => [Buffer.alloc(7).fill("abc").toString(), Buffer.alloc(4).fill("ff00", "hex").toString("hex"), Buffer.alloc(4).fill(257).toString("hex"), Buffer.alloc(4).fill("").toString("hex"), Buffer.alloc(5).fill(Buffer.from("xy"), 1, 4).toString("hex"), Buffer.alloc(3).fill("é", "latin1").toString("hex"), Buffer.alloc(2).fill(true).toString("hex"), Buffer.alloc(3).fill("a", 2, 1).toString("hex"), Buffer.alloc(0, "a").length]);
await show("fill out of range", () => Buffer.alloc(2).fill(1, 3));
await show("fill bad hex", () => Buffer.alloc(2).fill("zz", "hex"));
await show("utf16", () => [Buffer.from("a😀\ud800", "utf16le").toString("hex"), Buffer.from([0x61, 0, 0xd8]).toString("ucs2"), Buffer.from([0, 0xd8]).toString("utf16le").charCodeAt(0), Buffer.from("é".repeat(5000), "ucs2").toString("ucs2").length, Buffer.alloc(3).write("ab", "utf16le")]);
await show("copy", () => {
  const t = Buffer.alloc(4);
  return [Buffer.from("abc").copy(t, 1, 1), t.toString("hex"), Buffer.from("abcdef").copy(t), t.toString()];
});
await show("swap", () => [Buffer.from([1, 2, 3, 4]).swap16().toString("hex"), Buffer.from([1, 2, 3, 4]).swap32().toString("hex")]);
await show("json", () => JSON.stringify(Buffer.from("hi")));
await show("is", () => [Buffer.isBuffer(Buffer.alloc(1)), Buffer.isBuffer(new Uint8Array(1)), Buffer.alloc(1) instanceof Uint8Array, Object.prototype.toString.call(Buffer.alloc(1))]);
await show("valid", () => [isUtf8(Buffer.from("é")), isUtf8(Buffer.from([0xff])), isAscii(Buffer.from("a")), isAscii(Buffer.from("é"))]);
await show("transcode", () => transcode(Buffer.from("é"), "utf8", "latin1").toString("hex"));
await show("iterate", () => [[...Buffer.from("ab").entries()], [...Buffer.from("ab").keys()], Buffer.from("ab").map((x) => x + 1).toString(), Buffer.of(1, 2).length]);
await show("copyBytesFrom", () => [...Buffer.copyBytesFrom(new Uint16Array([1, 2, 3]), 1, 1)]);
await show("global", () => globalThis.Buffer === Buffer && require("buffer") === require("node:buffer"));
await show("atob", () => [atob("aGk="), atob(" aG k "), btoa("hi"), btoa("\xff"), atob("")]);
await show("atob odd", () => [atob("YQ"), atob("YQ=="), atob("YR=="), atob("\tY\nQ\f=\r=")]);
for (const text of ["Y", "YQ=", "Y=Q=", "YQ==YQ==", "Y-Q_", "é"]) await show(`atob ${text}`, () => atob(text));
await show("atob invalid", () => atob("a"));
await show("btoa invalid", () => btoa("€"));
await show("big", () => {
  const b = Buffer.from("é".repeat(100000));
  return [b.length, b.toString().length, Buffer.from(b.toString("base64"), "base64").equals(b), b.toString("latin1").length];
});
