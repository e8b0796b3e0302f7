// A person at the page of a studio: finds everything by its role and name, and touches the picture where they see things.
import assert from "node:assert/strict";
import { chromium, expect } from "@playwright/test";

const timeout = 60_000; // of a loaded machine; each wait ends as soon as what it waits for is there

/** Opens a browser, and the page of a studio in it. */
export async function open(browser, url) {
	const program = await chromium.launch({ executablePath: browser, timeout: 0 });
	const context = await program.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: "light" });
	context.setDefaultTimeout(timeout);
	const person = new Person(await context.newPage());
	await person.page.goto(url);
	return { program, context, person };
}

export class Person {
	/** The messages that the server sent. */
	received = [];
	/** What the page complained about. */
	complaints = [];

	constructor(page) {
		this.page = page;
		this.picture = page.getByRole("region", { name: "Screen" }).getByRole("img", { name: "Screen of" });
		this.outline = page.getByRole("region", { name: "Screen" }).locator(".is-hovered");
		this.status = page.getByRole("status", { name: "State" });
		this.steps = page.getByRole("tree", { name: "Steps" });
		page.on("pageerror", (e) => this.complaints.push(String(e)));
		page.on("console", (m) => m.type() === "error" && this.complaints.push(m.text()));
		page.on("websocket", (socket) => {
			socket.on("framereceived", ({ payload }) => this.received.push(Buffer.from(payload)));
		});
	}

	/** A button of the toolbar. */
	tool(name) {
		return this.page.getByRole("toolbar", { name: "Session" }).getByRole("button", { name, exact: true });
	}

	async press(name) {
		await expect(this.tool(name)).not.toHaveAttribute("aria-disabled", "true", { timeout });
		await this.tool(name).click();
	}

	/** Waits until nothing runs and there is a picture. */
	async rests() {
		await expect(this.status).toContainText(/^(Recording|Ready)/, { timeout });
		await expect(this.picture).toBeVisible({ timeout });
	}

	/** Opens a page on the device, as the first call. */
	async navigate(url) {
		await this.rests();
		const address = this.page.getByRole("textbox", { name: "Address" });
		await address.fill(url);
		await address.press("Enter");
		await this.recorded(1);
	}

	/** Presses Tab until one of some elements has the focus. */
	async tabTo(elements) {
		for (let i = 0; i < 60 && !(await this.isFocused(elements)); i++) await this.page.keyboard.press("Tab");
		assert.ok(await this.isFocused(elements), `Tab does not reach ${elements}`);
	}

	isFocused(elements) {
		return elements.evaluateAll((all) => all.includes(document.activeElement));
	}

	/** The row of an element in the tree of elements, such as button "Sign in". */
	async row(element) {
		const [, role, name] = /^(\S+) "(.*)"$/.exec(element);
		await this.page.getByRole("tab", { name: "Elements" }).click();
		await this.page.getByRole("searchbox", { name: "find" }).fill(name);
		const row = this.page.getByRole("tree", { name: "Elements" }).getByRole("treeitem").filter({ hasText: new RegExp(`^${role}\\s*${name}`) });
		await row.first().waitFor();
		return row.first();
	}

	/** Moves the pointer to an element on the picture. Returns where that is. */
	async pointAt(element) {
		await expect(async () => {
			await (await this.row(element)).hover({ timeout: 2000 });
			const box = await this.outline.boundingBox({ timeout: 2000 });
			this.at = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
			await this.page.mouse.move(this.at.x, this.at.y);
			await expect(this.outline, "the outlined element").toContainText(element, { timeout: 2000 });
		}).toPass({ timeout });
		return this.at;
	}

	/** Clicks an element on the picture, and waits until that is done and recorded as so many calls. */
	async click(element, calls) {
		await this.rests();
		await this.pointAt(element);
		await this.page.mouse.click(this.at.x, this.at.y);
		await this.recorded(calls);
	}

	/** Types into the field that was clicked. The page shows dots for a password. */
	async type(text) {
		await this.page.keyboard.type(text);
		await expect(this.page.getByText(`Typing into`).locator("..")).toContainText(new RegExp(`${text.slice(-3)}|•{${text.length}}$`), { timeout });
		await this.rests();
	}

	/** Waits until the trail has so many calls. */
	async recorded(calls) {
		if (calls === undefined) return;
		await expect(this.steps.locator("[role=treeitem][aria-level='2']"), `after ${this.page.url()}`).toHaveCount(calls, { timeout });
		await this.rests();
	}

	/** Picks a check of an element on the picture, and waits until it held, after which a click acts again. */
	async assert(element, check, calls) {
		await this.press("Assert");
		await this.pointAt(element);
		await this.page.mouse.click(this.at.x, this.at.y);
		await this.page.getByRole("menuitem", { name: check }).click();
		await expect(this.tool("Assert")).toHaveAttribute("aria-pressed", "false", { timeout });
		await this.recorded(calls);
	}

	/** Saves; a new recording in a file, if it is so wished without the replay that comes first. */
	async save(file, { replay = true } = {}) {
		await this.press("Save");
		if (file) {
			const dialog = this.page.getByRole("dialog", { name: "Save", exact: true });
			await dialog.getByRole("textbox", { name: "File" }).fill(file);
			await dialog.getByRole("checkbox", { name: "Replay it" }).setChecked(replay);
			await dialog.getByRole("button", { name: "Save" }).click();
		}
		const done = this.page.getByRole("dialog", { name: /^(Saved|Not saved)$/ });
		await done.waitFor();
		assert.match(await done.innerText(), /^Saved/, "the dialog after Save");
		await done.getByRole("button", { name: "OK" }).click();
		await expect(this.status).toContainText("saved");
		await expect(this.status).not.toContainText("unsaved");
	}

	/** The text of the region Trail. */
	async trail() {
		await this.page.getByRole("tab", { name: "Trail" }).click();
		return (await this.page.getByRole("region", { name: "Trail" }).locator(".cm-line").allInnerTexts()).join("\n");
	}
}
