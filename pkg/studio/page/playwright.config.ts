import { defineConfig } from "@playwright/test";

export default defineConfig({
	testDir: "test",
	outputDir: "../../../bin/studio-page",
	timeout: 90_000,
	expect: { timeout: 30_000 },
	fullyParallel: true,
	workers: 2,
	reporter: "line",
	use: {
		baseURL: "http://studio.test",
		viewport: { width: 1280, height: 800 },
		launchOptions: { executablePath: process.env.TRAILBLAZE_BROWSER ?? "/usr/bin/chromium" },
	},
});
