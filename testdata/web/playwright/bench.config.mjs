// What testdata/bench/browser.go holds trailblaze against: Playwright Test as one starts it, with the browser that trailblaze gets.
import { defineConfig } from "@playwright/test";

export default defineConfig({
  testMatch: "bench.spec.mjs",
  outputDir: process.env.BENCH_OUTPUT,
  reporter: "list",
  workers: 1,
  use: {
    baseURL: process.env.BENCH_URL,
    viewport: { width: 1280, height: 800 },
    launchOptions: { executablePath: process.env.TRAILBLAZE_BROWSER },
  },
});
