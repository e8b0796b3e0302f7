// Prints how many pixels of pairs of pictures differ for pixelmatch: node pixels.mjs THRESHOLD A.png B.png …
import { readFileSync } from "node:fs";
import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";

const [threshold, ...files] = process.argv.slice(2);
const pictures = files.map((file) => PNG.sync.read(readFileSync(file)));
for (let i = 0; i < pictures.length; i += 2) {
  const { width, height, data } = pictures[i];
  console.log(pixelmatch(data, pictures[i + 1].data, undefined, width, height, { threshold: Number(threshold) }));
}
