// Runs behaviours.spec.mjs for e2e/parity_test.go.
import { defineConfig } from "@playwright/test";

export default defineConfig({
  testMatch: "behaviours.spec.mjs",
  outputDir: process.env.BEHAVIOURS_OUTPUT,
  reporter: "line",
  fullyParallel: true,
  workers: 2,
  use: { launchOptions: { executablePath: process.env.TRAILBLAZE_BROWSER } },
});
