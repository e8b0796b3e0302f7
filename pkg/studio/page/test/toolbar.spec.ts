import type { Failure } from "../src/protocol";
import { expect, Refusal, test } from "./studio";

test("buttons ask for what they say, and are disabled when it cannot be done", async ({ studio, page }) => {
	await studio.open();
	const last = async (request: unknown) => expect.poll(() => studio.requests.at(-1)).toEqual(request);
	const button = (name: string) => page.getByRole("button", { name, exact: true });
	await button("Record").click();
	await last({ do: "record", on: false });
	await button("Undo").click();
	await last({ do: "undo" });
	await button("Replay").click();
	await last({ do: "replay", mode: "all" });
	await button("Next call").click();
	await last({ do: "replay", mode: "next" });
	await expect(button("Redo")).toBeDisabled();
	await expect(button("Replay to here")).toBeDisabled();
	await page.getByRole("treeitem", { name: "Put tea" }).click();
	await button("Replay to here").click();
	await last({ do: "replay", mode: "to", to: "2" });
	await expect(button("Stop")).toBeDisabled();
	studio.setState({ activity: "replaying", doing: "Replaying step 2" });
	await button("Stop").click();
	await last({ do: "stop" });
	await expect(button("Save")).toBeDisabled();
	await page.getByRole("combobox", { name: "Device" }).selectOption("web/phone");
	await last({ do: "device", name: "web/phone" });
	studio.setState({ activity: "idle", doing: "" });
	await page.getByRole("textbox", { name: "Address" }).fill("https://shop.example/tea");
	await page.keyboard.press("Enter");
	await last({ do: "navigate", url: "https://shop.example/tea" });
});

test("shortcuts work where the keyboard is not needed for something else", async ({ studio, page }) => {
	await studio.open();
	await page.getByRole("tree", { name: "Steps" }).locator("[tabindex='0']").focus();
	await page.keyboard.press("Control+z");
	await page.keyboard.press("Alt+p");
	await page.keyboard.press("Alt+r");
	await expect.poll(() => studio.requests.map((request) => request.do)).toEqual(["undo", "replay", "record"]);
	await page.getByRole("textbox", { name: "Step" }).focus();
	await page.keyboard.press("Control+z");
	await page.getByRole("button", { name: "Record" }).focus();
	await page.keyboard.press("ArrowRight");
	await expect(page.getByRole("button", { name: "Assert" })).toBeFocused();
	expect(studio.requests).toHaveLength(3);
	await expect(page.getByRole("button", { name: "Replay", exact: true })).toHaveAttribute("title", /\(Alt\+P\)/);
});

test("shortcuts are the letters of the layout", async ({ studio, page }) => {
	await studio.open();
	const tree = page.getByRole("tree", { name: "Steps" }).locator("[tabindex='0']");
	const press = (init: KeyboardEventInit) => tree.dispatchEvent("keydown", init);
	await press({ key: "y", code: "KeyZ", ctrlKey: true });
	await press({ key: "z", code: "KeyY", ctrlKey: true });
	await press({ key: "a", code: "KeyQ", altKey: true });
	await expect(page.getByRole("button", { name: "Assert" })).toHaveAttribute("aria-pressed", "true");
	await press({ key: "я", code: "KeyZ", ctrlKey: true });
	await press({ key: "π", code: "KeyP", altKey: true });
	await expect.poll(() => studio.requests.map((request) => request.do)).toEqual(["undo", "undo", "replay"]);
});

test("on a Mac, Option types in fields and is a shortcut elsewhere", async ({ studio, page }) => {
	await page.addInitScript(() => Object.defineProperty(navigator, "platform", { get: () => "MacIntel" }));
	await studio.open();
	const option = { key: "®", code: "KeyR", altKey: true };
	await page.getByRole("textbox", { name: "Step" }).dispatchEvent("keydown", option);
	await page.getByRole("textbox", { name: "Step" }).dispatchEvent("keydown", { key: "s", code: "KeyS", metaKey: true });
	await page.getByRole("tree", { name: "Steps" }).dispatchEvent("keydown", option);
	await expect.poll(() => studio.requests.map((request) => request.do)).toEqual(["save", "record"]);
});

test("a new recording gets a file, and the result shows the difference", async ({ studio, page }) => {
	Object.assign(studio.state, { file: "" });
	studio.answers.save = () => ({
		file: "trails/buy-tea.trail.yaml",
		written: true,
		diff: "--- a\n+++ b\n@@ -1 +1 @@\n-old <b>\n+new <b>",
		warnings: ["step 2 has no check"],
		replayed: { outcome: "passed", reason: "", hint: "", step: 0, tool: "", line: 0 },
	});
	await studio.open();
	await page.getByRole("button", { name: "Save", exact: true }).click();
	const dialog = page.getByRole("dialog", { name: "Save" });
	await expect(dialog.getByRole("textbox", { name: "File" })).toHaveValue("trails/buy-tea.trail.yaml");
	const title = dialog.getByRole("textbox", { name: "Title" });
	await expect(title).toBeFocused();
	await title.fill("Buy green tea");
	await expect(dialog.getByRole("textbox", { name: "File" })).toHaveValue("trails/buy-green-tea.trail.yaml");
	await dialog.getByRole("textbox", { name: "File" }).fill("trails/tea.trail.yaml");
	await title.fill("Buy tea");
	await dialog.getByRole("button", { name: "Save" }).click();
	expect(await studio.asked("save")).toMatchObject({
		file: "trails/tea.trail.yaml",
		title: "Buy tea",
		noReplay: false,
	});
	const result = page.getByRole("dialog", { name: "Saved" });
	await expect(result).toContainText("new <b>");
	await expect(result).toContainText("step 2 has no check");
	await page.keyboard.press("Escape");
	await expect(result).toHaveCount(0);
	await expect(page.getByRole("button", { name: "Save", exact: true })).toBeFocused();
});

test("a save that is refused says why, and what can be done", async ({ studio, page }) => {
	let failure: Failure = {
		message: "trails/tea.trail.yaml was changed",
		hint: "overwrite all of it, or choose another file",
		kind: "misuse",
		overwrite: true,
	};
	studio.answers.save = () => {
		throw new Refusal(failure);
	};
	await studio.open();
	await page.keyboard.press("Control+s");
	const dialog = page.getByRole("dialog", { name: "Not saved" });
	await expect(dialog).toContainText("overwrite all of it, or choose another file");
	await expect(dialog.getByRole("button")).toHaveText(["Overwrite the file", "Save as another file", "OK"]);
	failure = { message: "the device is lost", kind: "device" };
	await dialog.getByRole("button", { name: "Overwrite the file" }).click();
	await expect.poll(() => studio.requests.at(-1)).toMatchObject({ do: "save", overwrite: "all", noReplay: false });
	await expect(dialog.getByRole("button")).toHaveText(["Save without a replay", "OK"]);
	failure = { message: "tea.yaml is not below trails", kind: "misuse" };
	await dialog.getByRole("button", { name: "Save without a replay" }).click();
	await expect.poll(() => studio.requests.at(-1)).toMatchObject({ do: "save", noReplay: true });
	await dialog.getByRole("button", { name: "Save as another file" }).click();
	await expect(page.getByRole("dialog", { name: "Save", exact: true })).toBeVisible();
	await page.keyboard.press("Escape");
	failure = { message: "the text has a problem", kind: "trail", problems: studio.document.problems };
	await page.keyboard.press("Control+s");
	await expect(dialog.getByRole("button")).toHaveText(["OK"]);
});

test("nothing is said of a device that is not chosen, or of a recording while somebody looks back", async ({
	studio,
	page,
}) => {
	Object.assign(studio.state, { device: "", platform: "", unsaved: false, file: "trails/tea.trail.yaml", past: "s1" });
	await studio.open();
	const status = page.getByRole("status", { name: "State" });
	await expect(status).toHaveText("Looking back");
	await expect(page.getByRole("combobox", { name: "Device" })).toHaveCount(0);
	const record = page.getByRole("button", { name: "Record", exact: true });
	await expect(record).toBeDisabled();
	await page.keyboard.press("Alt+r");
	expect(studio.requests.filter((request) => request.do === "record")).toEqual([]);
	await page.getByRole("button", { name: "Back to recording" }).click();
	await expect(status).toHaveText("No device · saved");
	await expect(record).toBeEnabled();
	await expect(page.getByRole("combobox", { name: "Device" })).toHaveValue("");
});

test("at 400 pixels no control covers another one, and all of the state is shown", async ({ studio, page }) => {
	await page.setViewportSize({ width: 400, height: 800 });
	Object.assign(studio.state, { recording: true, unsaved: true });
	await studio.open();
	const controls = page.locator("header").locator("button:visible, select, [role=status] .doing");
	const boxes = await controls.evaluateAll((all) =>
		all.map((e) => {
			const { left, right, top, bottom } = e.getBoundingClientRect();
			return {
				name: e.getAttribute("title") ?? e.textContent,
				left,
				right,
				top,
				bottom,
				cut: e.scrollWidth > e.clientWidth + 1,
			};
		}),
	);
	expect(boxes.length).toBeGreaterThan(10);
	expect(boxes.map(({ name }) => name)).toContain("Recording");
	const covered = boxes.flatMap((a, i) =>
		boxes
			.slice(i + 1)
			.filter((b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
			.map((b) => `${a.name} and ${b.name}`),
	);
	expect(covered).toEqual([]);
	expect(boxes.filter(({ right, cut }) => right > 400 || cut).map(({ name }) => name)).toEqual([]);
});
