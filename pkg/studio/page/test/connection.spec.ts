import { expect, test } from "./studio";

test("a lost connection is said, and made again", async ({ studio, page }) => {
	await studio.open();
	studio.log({ time: "2026-11-26T10:00:00Z", level: "info", text: "a line" });
	const line = page.getByRole("region", { name: "Log" }).getByText("a line");
	await page.getByRole("tab", { name: "Log" }).click();
	await expect(line).toHaveCount(1);
	await studio.drop();
	studio.state.recording = false;
	await expect(page.getByRole("status", { name: "State" })).toContainText("Ready");
	studio.log({ time: "2026-11-26T10:00:01Z", level: "info", text: "the last one" });
	await expect(page.getByRole("region", { name: "Log" }).getByText("the last one")).toBeVisible();
	await expect(line).toHaveCount(1);
});

test("the end of the server is said, and nothing is disturbed", async ({ studio, page }) => {
	await studio.open();
	studio.push({ on: "bye", why: "Ctrl-C" });
	await studio.drop();
	await expect(page.getByRole("alert")).toContainText(
		"Disconnected: Ctrl-C. What was not saved is in recording.trail.yaml in the session's folder.",
	);
	await expect(page.getByRole("treeitem", { name: "Put tea" })).toBeVisible();
	await expect(page.getByRole("button", { name: "Record" })).toBeDisabled();
});

test("a page that does not control looks on, and can take over", async ({ studio, page }) => {
	Object.assign(studio.state, { controls: false, pages: 2 });
	await studio.open();
	await expect(page.getByRole("button", { name: "Replay", exact: true })).toBeDisabled();
	await page.getByRole("treeitem", { name: "Put tea" }).click();
	studio.setState({ activity: "replaying" });
	await page.getByRole("button", { name: "Stop" }).click();
	await page.getByRole("button", { name: "Take over" }).click();
	await expect.poll(() => studio.requests).toEqual([{ do: "stop" }, { do: "takeOver" }]);
});

test("a kept recording can be restored, a lost device opened again", async ({ studio, page }) => {
	studio.state.kept = { file: "recording.trail.yaml", steps: 3, when: "2026-11-26T10:04:00Z" };
	await studio.open();
	await page.getByRole("button", { name: "Restore" }).click();
	expect(await studio.asked("restore")).toEqual({ do: "restore", keep: true });
	studio.setState({ kept: null, activity: "lost", doing: "The browser has crashed." });
	await expect(page.getByRole("alert")).toContainText("The browser has crashed. The recording is kept.");
	await page.getByRole("button", { name: "Open again" }).click();
	expect(await studio.asked("device")).toEqual({ do: "device", name: "web/desktop" });
	studio.setState({ doing: "the browser exited" });
	await expect(page.getByRole("alert")).toContainText("The browser exited. The recording is kept.");
	studio.push({ on: "bye", why: "Ctrl-C" });
	await studio.drop();
	await expect(page.getByRole("alert")).toHaveCount(1); // a device cannot be opened without a server
	await expect(page.getByRole("alert")).toContainText("Disconnected: Ctrl-C.");
});

test("a page of the device that is empty says what to do", async ({ studio, page }) => {
	Object.assign(studio.state, { url: "", screen: { width: 0, height: 0 } });
	await studio.open();
	await expect(page.getByText("The page is empty. Open a URL, or Replay.")).toBeVisible();
	studio.setDocument({ steps: [] });
	await expect(page.getByText("The page is empty. Open a URL.")).toBeVisible();
	studio.setState({ platform: "ios" });
	await expect(page.getByText("The first picture comes soon.")).toBeVisible();
});

test("the log, the requests and the console are shown", async ({ studio, page }) => {
	await studio.open();
	const time = "2026-11-26T10:00:00Z";
	studio.push({
		on: "log",
		lines: Array.from({ length: 500 }, (_, i) => ({ time, level: "info", text: `line ${i}` })),
	});
	studio.push({ on: "log", lines: [{ time, level: "error", text: "<img src=x> the server stopped" }] });
	await page.getByRole("tab", { name: "Log" }).click();
	await expect(page.getByRole("region", { name: "Log" }).getByText("<img src=x> the server stopped")).toBeVisible();
	await page.getByRole("tab", { name: "Network" }).click();
	await expect(page.getByText("GET https://shop.example/cart 200")).toBeVisible();
});
