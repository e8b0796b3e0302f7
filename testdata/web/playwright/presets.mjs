// Writes Playwright's table of devices, one a line and compressed, to the file that is its argument.
import { writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { devices } from "playwright-core";

const lines = Object.entries(devices).map(([name, d]) =>
  JSON.stringify(name) + ": " + JSON.stringify({
    viewport: [d.viewport.width, d.viewport.height],
    screen: d.screen ? [d.screen.width, d.screen.height] : undefined,
    scale: d.deviceScaleFactor, mobile: d.isMobile || undefined, touch: d.hasTouch || undefined, userAgent: d.userAgent,
  }));
writeFileSync(process.argv[2], gzipSync("{\n" + lines.join(",\n") + "\n}\n", { level: 9 }));
