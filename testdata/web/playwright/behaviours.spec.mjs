// The behaviours of behaviours.yaml, as e2e/parity_test.go passes them in BEHAVIOURS: a JSON list of {name, url, device,
// code, outcome}. Each outcome is appended to BEHAVIOURS_RESULTS, as a line of JSON. A behaviour that fails does not fail
// its test, because Playwright would start another browser for the next.
import { appendFileSync } from "node:fs";
import { devices, expect, test } from "@playwright/test";

const { defaultBrowserType, ...phone } = devices["iPhone 15"];
const options = {
  "": {},
  phone,
  emulated: {
    locale: "de-DE",
    timezoneId: "Asia/Tokyo",
    geolocation: { latitude: 52.5, longitude: 13.4 },
    permissions: ["geolocation"],
    colorScheme: "dark",
    userAgent: "Shop/1",
    deviceScaleFactor: 2,
    hasTouch: true,
    extraHTTPHeaders: { "X-Shop": "yes" },
  },
};
const AsyncFunction = (async () => {}).constructor;

for (const device in options) {
  test.describe(device, () => {
    test.use(options[device]);
    for (const { name, url, code, outcome: expected, device: wanted } of JSON.parse(process.env.BEHAVIOURS)) {
      if (wanted !== device) continue;
      test(name, async ({ page }) => {
        const limit = expected === "failed" ? 500 : 20_000; // what fails needs no time
        await page.goto(url);
        page.setDefaultTimeout(limit);
        let outcome = "passed", reason = "";
        try {
          await new AsyncFunction("page", "expect", code)(page, expect.configure({ timeout: limit }));
        } catch (error) {
          [outcome, reason] = ["failed", String(error)];
        }
        appendFileSync(process.env.BEHAVIOURS_RESULTS, JSON.stringify({ name, outcome, reason }) + "\n");
      });
    }
  });
}
