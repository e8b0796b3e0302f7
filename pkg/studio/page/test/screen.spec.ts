import type { Locator } from "@playwright/test";
import type { Ask } from "../src/protocol";
import { newLocation } from "./samples";
import { expect, type Studio, test } from "./studio";

/** Opens the page with a picture. */
async function picture(studio: Studio): Promise<Locator> {
	await studio.open();
	await studio.picture();
	const image = studio.page.getByRole("img", { name: "Screen of" });
	await expect(image).toBeVisible();
	return image;
}

/** The acts that were asked for, in order. */
function acts(studio: Studio) {
	return studio.requests.flatMap((request) => (request.do === "act" ? [request.act] : []));
}

/** A point of the screen of the device, in pixels of the picture. */
async function at(image: Locator, x: number, y: number) {
	const box = await image.boundingBox();
	return { x: (x / 1000) * (box?.width ?? 0), y: (y / 700) * (box?.height ?? 0) };
}

test("a click, a right click and a drag are sent in the unit of the screen", async ({ studio, page }) => {
	const image = await picture(studio);
	await image.click({ position: await at(image, 820, 284) });
	await image.click({ position: await at(image, 100, 600), button: "right" });
	await image.dragTo(image, { sourcePosition: await at(image, 200, 400), targetPosition: await at(image, 500, 450) });
	await expect.poll(() => acts(studio)).toHaveLength(3);
	const rounded = acts(studio).map((act) =>
		Object.fromEntries(
			Object.entries(act).map(([key, value]) => [key, typeof value === "number" ? Math.round(value / 5) * 5 : value]),
		),
	);
	expect(rounded).toEqual([
		{ kind: "click", x: 820, y: 285, modifiers: [] },
		{ kind: "rightClick", x: 100, y: 600, modifiers: [] },
		{ kind: "drag", x: 200, y: 400, toX: 500, toY: 450, hold: false },
	]);
	await expect(page.getByRole("menu")).toHaveCount(0);
});

test("clicks have the modifiers that are held", async ({ studio }) => {
	const image = await picture(studio);
	await image.click({ modifiers: ["Shift"] });
	await image.dblclick({ modifiers: ["Control", "Alt"], position: { x: 9, y: 9 } });
	await image.click({ button: "middle", modifiers: ["Meta"] });
	await expect
		.poll(() => acts(studio).map((act) => [act.kind, "modifiers" in act && act.modifiers]))
		.toEqual([
			["click", ["Shift"]],
			["click", ["Control", "Alt"]],
			["doubleClick", ["Control", "Alt"]],
			["middleClick", ["Meta"]],
		]);
});

test("a double click is a click, sent at once, and a doubleClick", async ({ studio }) => {
	const image = await picture(studio);
	await image.dblclick();
	await expect.poll(() => acts(studio).map(({ kind }) => kind)).toEqual(["click", "doubleClick"]);
});

test("a wheel is sent as one act for many events", async ({ studio, page }) => {
	const image = await picture(studio);
	await image.hover();
	for (let i = 0; i < 10; i++) await page.mouse.wheel(0, 20);
	const turned = () => acts(studio).reduce((sum, act) => sum + (act.kind === "wheel" ? act.dy : 0), 0);
	await expect.poll(turned).toBeGreaterThan(200);
	expect(acts(studio).length).toBeLessThan(10);
});

test("the wheel waits for the answer before it is sent again", async ({ studio, page }) => {
	const image = await picture(studio);
	let answer = () => {};
	studio.answers.act = () => new Promise<void>((done) => (answer = done));
	const turn = (dy: number) => image.dispatchEvent("wheel", { deltaY: dy });
	await turn(10);
	await expect.poll(() => acts(studio)).toHaveLength(1);
	for (let i = 0; i < 5; i++) {
		await turn(10);
		await page.evaluate(() => new Promise((done) => setTimeout(done, 100)));
	}
	expect(acts(studio)).toHaveLength(1);
	answer();
	await expect.poll(() => acts(studio)).toHaveLength(2);
	const [first, second] = acts(studio).map((act) => (act.kind === "wheel" ? act.dy : 0));
	expect((second ?? 0) / (first ?? 1)).toBeCloseTo(5, 0);
	answer();
});

test("what Option types on a Mac is text", async ({ studio, page }) => {
	await page.addInitScript(() => Object.defineProperty(navigator, "platform", { get: () => "MacIntel" }));
	const image = await picture(studio);
	await image.dispatchEvent("keydown", { key: "@", code: "KeyL", altKey: true });
	await image.dispatchEvent("keydown", { key: "\\", code: "Digit7", altKey: true, shiftKey: true });
	await image.dispatchEvent("keydown", { key: "ArrowLeft", code: "ArrowLeft", altKey: true });
	await image.dispatchEvent("keydown", { key: "l", code: "KeyL", altKey: true, metaKey: true });
	await expect
		.poll(() => acts(studio))
		.toEqual([
			{ kind: "key", key: "@", modifiers: [] },
			{ kind: "key", key: "\\", modifiers: [] },
			{ kind: "key", key: "ArrowLeft", modifiers: ["Alt"] },
			{ kind: "key", key: "l", modifiers: ["Alt", "Meta"] },
		]);
});

test("keys go to the device until Escape leaves the picture; then Tab goes on", async ({ studio, page }) => {
	const image = await picture(studio);
	await image.focus();
	await expect(page.getByText("Escape leaves it")).toBeVisible();
	for (const key of ["a", "Z", "Enter", "Shift+Tab", "Control+b", "Shift+Escape"]) await page.keyboard.press(key);
	await expect
		.poll(() => acts(studio))
		.toEqual([
			{ kind: "key", key: "a", modifiers: [] },
			{ kind: "key", key: "Z", modifiers: [] },
			{ kind: "key", key: "Enter", modifiers: [] },
			{ kind: "key", key: "Tab", modifiers: ["Shift"] },
			{ kind: "key", key: "b", modifiers: ["Control"] },
			{ kind: "key", key: "Escape", modifiers: [] },
		]);
	await page.keyboard.press("Escape");
	await page.keyboard.press("x");
	await page.keyboard.press("Tab");
	await expect(image).not.toBeFocused();
	expect(await page.evaluate(() => document.activeElement !== document.body)).toBe(true);
	expect(acts(studio)).toHaveLength(6);
});

test("what is pasted, and what an input method composes, is text", async ({ studio, page }) => {
	const image = await picture(studio);
	await image.focus();
	await image.evaluate((element) => {
		const clipboardData = new DataTransfer();
		clipboardData.setData("text/plain", "two\nlines");
		element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
	});
	const browser = await page.context().newCDPSession(page);
	await browser.send("Input.imeSetComposition", { text: "に", selectionStart: 1, selectionEnd: 1 });
	await browser.send("Input.insertText", { text: "日" });
	await expect
		.poll(() => acts(studio))
		.toEqual([
			{ kind: "text", text: "two\nlines" },
			{ kind: "text", text: "日" },
		]);
});

test("a press is long on phones", async ({ studio, page }) => {
	studio.state.platform = "android";
	const image = await picture(studio);
	const { x = 0, y = 0 } = (await image.boundingBox()) ?? {};
	const browser = await page.context().newCDPSession(page);
	/** Presses at a point, moves, and releases, with the times at which the events happened, in seconds. */
	const press = async (moved: number, times: [number, number, number]) => {
		const events = ["mousePressed", "mouseMoved", "mouseReleased"] as const;
		const now = Date.now() / 1000;
		for (const [i, type] of events.entries()) {
			const at = { x: x + 40 + (i > 0 ? moved : 0), y: y + 40, timestamp: now + (times[i] ?? 0) };
			await browser.send("Input.dispatchMouseEvent", { type, ...at, button: "left", buttons: 1, clickCount: 1 });
		}
	};
	await press(0, [0, 0.1, 0.2]);
	await press(0, [10, 10.1, 10.6]);
	await press(60, [20, 20.1, 20.9]);
	await press(60, [30, 30.6, 30.9]);
	await expect
		.poll(() => acts(studio).map((act) => [act.kind, "hold" in act && act.hold]))
		.toEqual([
			["click", false],
			["longPress", false],
			["drag", false],
			["drag", true],
		]);
	await expect(page.getByRole("textbox", { name: "Address" })).toHaveCount(0);
});

test("the element under the pointer is outlined with role and name", async ({ studio, page }) => {
	const image = await picture(studio);
	await image.hover({ position: await at(image, 820, 284) });
	await expect(async () => {
		await image.hover({ position: await at(image, 821, 280) });
		await image.hover({ position: await at(image, 820, 284) });
		await expect(page.locator(".box-label")).toHaveText('button "Pay now"', { timeout: 200 });
	}).toPass();
	const { url } = studio.state;
	for (const change of [{ url: "https://shop.example/paid" }, { activity: "replaying" as const }]) {
		studio.setState(change);
		await expect(page.locator(".is-hovered")).toHaveCount(0);
		studio.setState({ url, activity: "idle" });
		await expect(page.locator(".is-hovered")).toHaveCount(1);
	}
});

test("a check of a picked element is made with the chosen selector", async ({ studio, page }) => {
	studio.answers.locate = newLocation;
	studio.answers.assert = () => ({ ok: true, text: "", warnings: ["it held before the last action, too"] });
	const image = await picture(studio);
	await page.getByRole("button", { name: "Assert" }).click();
	await image.click({ position: await at(image, 820, 284) });
	expect(await studio.asked("locate")).toMatchObject({ x: expect.any(Number), y: expect.any(Number) });
	await page.getByRole("option", { name: "text" }).click();
	await page.getByRole("menuitem", { name: "Visible" }).click();
	expect((await studio.asked("assert")).call).toEqual({
		tool: "web_verify_element_visible",
		args: { nodeSelector: { text: "Pay now" } },
	});
	await expect(page.getByText("it held before the last action, too")).toBeVisible();
	expect(acts(studio)).toEqual([]);
});

test("a picked element is put into the selected call", async ({ studio, page }) => {
	studio.answers.locate = newLocation;
	const image = await picture(studio);
	await page.getByRole("treeitem", { name: 'click button "Check out"' }).click();
	await page.getByRole("button", { name: "Pick", exact: true }).click();
	await image.click();
	const candidates = page.getByRole("listbox", { name: "Candidates" });
	await expect(candidates).toBeFocused();
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("Enter");
	expect((await studio.asked("edit")).edit).toEqual({ op: "pick", call: "3.1", selector: { text: "Pay now" } });
	await expect(candidates).toHaveCount(0);
});

test("the tree of elements and the picture show each other's selection", async ({ studio, page }) => {
	studio.answers.locate = newLocation;
	await picture(studio);
	await page.getByRole("tab", { name: "Elements" }).click();
	await page.getByRole("treeitem", { name: "heading" }).hover();
	await expect(page.locator(".box-label")).toHaveText('heading "Your cart"');
	await page.getByRole("searchbox", { name: "find" }).fill("pay");
	await expect(page.getByRole("tree", { name: "Elements" }).getByRole("treeitem")).toHaveCount(2);
	await page.getByRole("treeitem", { name: "button Pay now" }).click();
	expect(await studio.asked("locate")).toMatchObject({ ref: "e7" });
	await expect(page.getByRole("treeitem", { name: "button Pay now" })).toHaveAttribute("aria-selected", "true");
	await expect(page.locator(".box.is-located")).toBeVisible();
});

test("a withheld picture says why", async ({ studio, page }) => {
	await picture(studio);
	studio.push({ on: "picture", seq: 99, width: 1000, height: 700, withheld: "it may show PASSWORD" });
	await expect(page.getByText("The picture is withheld: it may show PASSWORD")).toBeVisible();
});

test("an act that cannot be sent says what to do", async ({ studio, page }) => {
	const image = await picture(studio);
	studio.setState({ activity: "replaying", doing: "Replaying step 2" });
	await image.click();
	await expect(page.getByRole("alert")).toContainText("choose Stop");
	await expect(page.getByRole("status", { name: "State" })).toContainText("Replaying step 2");
	expect(acts(studio)).toEqual([]);
	studio.setState({ activity: "idle", doing: "" });
	studio.answers.act = () => ({
		ok: false,
		text: "the button is covered",
		hint: "close the dialog first",
		warnings: [],
	});
	await image.click();
	await expect(page.getByRole("alert")).toContainText("The button is covered. Close the dialog first.");
});

test("pictures that come faster than they are shown do no harm", async ({ studio, page }) => {
	const errors: string[] = [];
	page.on("pageerror", (error) => errors.push(error.message));
	await page.addInitScript(() => {
		const later = window.requestAnimationFrame.bind(window);
		window.requestAnimationFrame = (act) => window.setTimeout(() => later(act), 25);
	});
	await picture(studio);
	await studio.picture(undefined, 100);
	await expect.poll(() => studio.shown).toBe(101);
	await expect(page.getByRole("img", { name: "Screen of" })).toHaveCount(1);
	expect(errors).toEqual([]);
});

test("the popup of a select stays on the page", async ({ studio, page }) => {
	await page.setViewportSize({ width: 640, height: 400 });
	await picture(studio);
	const option = { value: "a", label: "A name that is long. ".repeat(10), selected: false, disabled: false };
	for (const left of [0, 400, 900]) {
		const bounds = { left, top: 100, right: left + 90, bottom: 130 };
		const ask: Ask = {
			id: left + 1,
			kind: "select",
			text: "Colour",
			value: "",
			multiple: false,
			options: [option],
			bounds,
		};
		studio.setState({ ask });
		await expect(page.locator(`[role=option]:has-text("A name")`)).toBeVisible();
		const width = await page.evaluate(() => document.documentElement.scrollWidth);
		expect(width, `at ${left}`).toBeLessThanOrEqual(640);
	}
});
