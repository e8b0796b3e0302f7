// Runs behaviours.spec.mjs for e2e/parity_test.go.
import { defineConfig } from "@playwright/test";

export default defineConfig({
  testMatch: "behaviours.spec.mjs",
  outputDir: process.env.BEHAVIOURS_OUTPUT,
  reporter: "dot",
  fullyParallel: true,
  workers: 2,
  timeout: 120_000,
  use: { launchOptions: { executablePath: process.env.TRAILBLAZE_BROWSER } },
});
