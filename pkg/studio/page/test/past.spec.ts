import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import type { Moment, Past, SessionSummary } from "../src/protocol";
import { shopPage } from "./samples";
import { expect, Refusal, type Studio, test } from "./studio";

const summaries: SessionSummary[] = [
	{ session: "ci/run 7/buy_1", title: "Buy tea", outcome: "failed", when: "2026-11-26T09:00:00Z", device: "phone" },
	{ session: "sign-in_2", title: "Sign <b>in</b>", outcome: "passed", when: "2026-11-25T09:00:00Z", device: "desktop" },
	{ session: "session-s1", title: "session-s1", outcome: "", when: "2026-11-24T09:00:00Z", device: "" },
];

function newMoment(call: string, tool: string, more: Partial<Moment> = {}): Moment {
	const second = Number(call.replaceAll(".", "")) % 60;
	return {
		time: `2026-11-26T09:00:${String(second).padStart(2, "0")}Z`,
		step: call.split(".")[0] ?? "",
		stepText: "Pay",
		call,
		tool,
		brief: `${tool} "Tea"`,
		args: '{ "text": "Tea" }',
		outcome: "passed",
		optional: false,
		message: "done",
		durationMs: 12,
		before: "",
		after: "",
		noPicture: "",
		width: 1000,
		height: 700,
		touched: null,
		url: "https://shop.example/cart",
		tree: "",
		requests: [],
		console: [],
		...more,
	};
}

function newPast(): Past {
	return {
		session: "ci/run 7/buy_1",
		title: "Buy tea",
		outcome: "failed",
		reason: "no button",
		hint: "",
		device: "phone",
		file: "trails/buy-tea.trail.yaml",
		failed: 2,
		moments: [
			newMoment("1.1", "web_navigate", { after: "trace/001.jpg", requests: ["GET https://shop.example/ 200"] }),
			newMoment("1.1.1", "web_click", {
				before: "trace/001.jpg",
				after: "trace/001.jpg",
				touched: { x: 820, y: 284 },
				tree: "trace/screen 2.txt",
				console: ["<i>hello</i>"],
			}),
			newMoment("2.1", "web_click", {
				before: "trace/001.jpg",
				outcome: "failed",
				message: 'no button "Check <b>out</b>"',
				noPicture: "a secret was given to this page",
			}),
			newMoment("2.2", "assertEquals", { outcome: "", message: "", args: "" }),
		],
		log: [
			{ time: "2026-11-26T09:00:00Z", level: "info", text: "before all" },
			{ time: "2026-11-26T09:00:21Z", level: "warn", text: "the page is slow" },
		],
		notes: ["1 line of the log could not be read"],
	};
}

/** Answers the requests of the view; pictures are of the sample page. */
async function serve(studio: Studio, page: Page, past = newPast()): Promise<void> {
	studio.answers.sessions = () => summaries;
	studio.answers.past = () => past;
	await studio.open();
	const shop = await page.context().newPage();
	await shop.setViewportSize({ width: 1000, height: 700 });
	await shop.setContent(shopPage);
	// Chromium on a busy machine is sometimes "unable to capture" a page that it has just shown.
	let picture: Buffer = Buffer.alloc(0);
	await expect(async () => {
		picture = await shop.screenshot({ type: "jpeg" });
	}).toPass();
	await shop.close();
	await page.route("http://studio.test/folder/past/**", (route) => {
		const { pathname } = new URL(route.request().url());
		if (!pathname.startsWith("/folder/past/ci%2Frun%207%2Fbuy_1/trace/")) return route.fulfill({ status: 404 });
		if (pathname.endsWith("/trace/001.jpg")) return route.fulfill({ body: picture, contentType: "image/jpeg" });
		return route.fulfill({ body: '- button "<b>Pay</b>"', contentType: "text/plain" });
	});
}

async function openSession(page: Page): Promise<void> {
	await page.getByRole("button", { name: "Sessions" }).click();
	await page.getByRole("button", { name: "Buy tea" }).click();
}

test("lists sessions, finds some, and goes back", async ({ studio, page }) => {
	await serve(studio, page);
	await page.getByRole("button", { name: "Sessions" }).click();
	const sessions = page.getByRole("main", { name: "Finished sessions" }).getByRole("listitem");
	await expect(sessions).toHaveText([/^Buy teafailedphone/, /^Sign <b>in<\/b>passeddesktop/, /^session-s1/]);
	const find = page.getByRole("searchbox", { name: "Find a session" });
	await find.fill("tea failed");
	await expect(sessions).toHaveCount(1);
	await find.fill("nothing");
	await expect(page.getByText("No session is like that.")).toBeVisible();
	await page.getByRole("button", { name: "Back to recording" }).click();
	await expect(page.getByRole("region", { name: "Screen" })).toBeVisible();
});

test("shows the call that failed first", async ({ studio, page }) => {
	await serve(studio, page);
	await openSession(page);
	const call = page.getByRole("treeitem", { selected: true });
	await expect(call).toContainText("failed: web_click");
	await expect(call).toContainText("12 ms");
	await expect(call).toContainText('no button "Check <b>out</b>"');
	await expect(page.getByRole("region", { name: "Call", exact: true })).toContainText('no button "Check <b>out</b>"');
	await expect(page.getByText("1 line of the log could not be read")).toBeVisible();
	const before = page.getByRole("img", { name: "Before" });
	await expect.poll(() => before.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(1000);
	await expect(page.getByText("a secret was given to this page").first()).toBeVisible();
	await expect(page.getByRole("img", { name: "After" })).toHaveCount(0);
});

test("moves over all screens with the keyboard", async ({ studio, page }) => {
	await serve(studio, page);
	await openSession(page);
	const slider = page.getByRole("slider", { name: "Moment" });
	await expect(slider).toHaveAttribute("aria-valuetext", '2.1 web_click "Tea", failed');
	await slider.press("ArrowLeft");
	await expect(slider).toHaveAttribute("aria-valuetext", '1.1.1 web_click "Tea", passed');
	await expect(page.getByText("no change").first()).toBeVisible();
	const [picture, point] = await Promise.all([
		page.getByRole("img", { name: "Before" }).boundingBox(),
		page.getByRole("img", { name: "pressed at 820, 284" }).boundingBox(),
	]);
	expect(((point?.x ?? 0) + (point?.width ?? 0) / 2 - (picture?.x ?? 0)) / (picture?.width ?? 1)).toBeCloseTo(0.82, 1);
	expect(((point?.y ?? 0) + (point?.height ?? 0) / 2 - (picture?.y ?? 0)) / (picture?.height ?? 1)).toBeCloseTo(
		0.406,
		1,
	);
	await page.getByRole("button", { name: "After", exact: true }).click();
	await expect(page.getByRole("img", { name: "Before" })).toHaveCount(0);
	await expect(page.getByRole("img", { name: "After" })).toBeVisible();
	await slider.press("Home");
	await expect(page.getByRole("treeitem", { selected: true })).toContainText("web_navigate");
	await page.getByRole("treeitem", { selected: true }).press("End");
	await expect(slider).toHaveAttribute("aria-valuetext", '2.2 assertEquals "Tea", did not end');
});

test("shows log, network, console and elements of the moment, as text", async ({ studio, page }) => {
	await serve(studio, page);
	await openSession(page);
	await page.getByRole("tab", { name: "Log" }).click();
	await expect(page.getByRole("region", { name: "Log", exact: true })).toContainText("the page is slow");
	await expect(page.getByText("before all")).toHaveCount(0);
	await page.getByRole("slider").press("ArrowLeft");
	await page.getByRole("tab", { name: "Console" }).click();
	await expect(page.getByText("<i>hello</i>")).toBeVisible();
	await page.getByRole("tab", { name: "Elements" }).click();
	await expect(page.getByText('- button "<b>Pay</b>"')).toBeVisible();
	await page.getByRole("slider").press("ArrowLeft");
	await expect(page.getByText("The elements of this moment were not kept.")).toBeVisible();
	await page.getByRole("tab", { name: "Network" }).click();
	await expect(page.getByText("GET https://shop.example/ 200")).toBeVisible();
});

test("opens the trail at the call of the trail itself", async ({ studio, page }) => {
	await serve(studio, page);
	await openSession(page);
	studio.answers.openPast = () => {
		throw new Refusal({ message: "the trail does not exist any more" });
	};
	await page.getByRole("slider").press("ArrowLeft");
	await page.getByRole("button", { name: "Open the trail here" }).click();
	expect(await studio.asked("openPast")).toEqual({ do: "openPast", session: "ci/run 7/buy_1", number: "1.1" });
	await expect(page.getByText("the trail does not exist any more")).toBeVisible();
	studio.answers.openPast = () => undefined;
	await page.getByRole("button", { name: "Open the trail here" }).click();
	await expect(page.getByRole("region", { name: "Screen" })).toBeVisible();
});

test("shows the session of the command line, and says why it cannot be read", async ({ studio, page }) => {
	studio.state.past = "gone";
	studio.answers.past = () => {
		throw new Refusal({ message: 'session "gone" was not found', hint: "give a session of the list" });
	};
	await studio.open();
	await expect(page.getByText('session "gone" was not found (give a session of the list)')).toBeVisible();
	await page.getByRole("button", { name: "Back to recording" }).click();
	studio.setState({ doing: "anything" });
	await expect(page.getByRole("region", { name: "Screen" })).toBeVisible();
});

test("stays usable with 10,000 calls", async ({ studio, page }) => {
	const moments = Array.from({ length: 10_000 }, (_, i) =>
		newMoment(`${1 + Math.floor(i / 10)}.${1 + (i % 10)}`, "tap"),
	);
	await serve(studio, page, { ...newPast(), moments, failed: 9_000 });
	await openSession(page);
	await expect(page.getByRole("slider")).toHaveAttribute("aria-valuetext", '901.1 tap "Tea", passed');
	await page.getByRole("slider").press("End");
	await expect(page.getByRole("treeitem", { selected: true })).toBeInViewport();
	expect(await page.getByRole("treeitem").count()).toBeLessThan(100);
	expect(await page.locator(".film-frame").count()).toBeLessThan(60);
});

for (const colorScheme of ["light", "dark"] as const) {
	test(`axe finds nothing in past sessions in the ${colorScheme} theme`, async ({ studio, page }) => {
		await page.emulateMedia({ colorScheme });
		await serve(studio, page);
		const check = async () => {
			const { violations } = await new AxeBuilder({ page })
				.withTags(["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"])
				.analyze();
			expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
		};
		await page.getByRole("button", { name: "Sessions" }).click();
		await expect(page.getByRole("listitem")).toHaveCount(3);
		await check();
		await page.getByRole("button", { name: "Buy tea" }).click();
		await page.getByRole("slider").press("ArrowLeft");
		await check();
	});
}
