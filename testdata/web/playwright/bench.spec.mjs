// The trail of testdata/bench/browser.go: eleven calls, as often as BENCH_TESTS says.
import { expect, test } from "@playwright/test";

for (let i = 0; i < Number(process.env.BENCH_TESTS); i++) {
  test(`count ${i}`, async ({ page }) => {
    const count = page.getByRole("button", { name: "Count" });
    await page.goto("/");
    await count.click();
    await expect(page.getByText("counted 1")).toBeVisible();
    for (const expected of [4, 7]) {
      for (let click = 0; click < 3; click++) await count.click();
      await expect(page.getByText(`counted ${expected}`)).toBeVisible();
    }
  });
}
