import type { Ask } from "../src/protocol";
import { expect, test } from "./studio";

function newAsk(kind: Ask["kind"], more: Partial<Ask> = {}): Ask {
	return { id: 4, kind, text: "Are you <b>sure</b>?", value: "", multiple: false, options: [], ...more };
}

test("dialogs are answered with OK and Cancel", async ({ studio, page }) => {
	await studio.open();
	studio.setState({ ask: newAsk("prompt", { value: "Ada" }) });
	const dialog = page.getByRole("dialog");
	await expect(dialog).toContainText("Are you <b>sure</b>?");
	await dialog.getByRole("textbox").fill("Grace");
	await dialog.getByRole("button", { name: "OK" }).click();
	expect(await studio.asked("answer")).toEqual({ do: "answer", ask: 4, ok: true, text: "Grace", values: ["Grace"] });
	studio.setState({ ask: newAsk("confirm", { id: 5 }) });
	await dialog.getByRole("button", { name: "Cancel" }).click();
	await expect.poll(() => studio.requests.at(-1)).toEqual({ do: "answer", ask: 5, ok: false, text: "", values: [""] });
	studio.setState({ ask: newAsk("files", { id: 6, multiple: true }) });
	await dialog.getByRole("textbox").fill("a.png\nb.png");
	await dialog.getByRole("button", { name: "OK" }).click();
	await expect
		.poll(() => studio.requests.at(-1))
		.toEqual({ do: "answer", ask: 6, ok: true, text: "a.png\nb.png", values: ["a.png", "b.png"] });
	studio.setState({ ask: newAsk("date", { id: 7, input: "time", value: "09:30" }) });
	await expect(dialog.getByLabel("Time")).toHaveValue("09:30");
	await dialog.getByLabel("Time").fill("10:45");
	await dialog.getByRole("button", { name: "OK" }).click();
	await expect.poll(() => studio.requests.at(-1)).toMatchObject({ ask: 7, ok: true, values: ["10:45"] });
	studio.setState({ ask: null });
	await expect(dialog).toHaveCount(0);
});

const options = ["red", "green", "blue"].map((label, i) => ({
	value: String(i),
	label,
	selected: i === 0,
	disabled: i === 1,
}));

test("the popup of a select is a listbox on the picture", async ({ studio, page }) => {
	await studio.open();
	await studio.picture();
	studio.setState({
		ask: newAsk("select", { text: "Colour", options, bounds: { left: 700, top: 190, right: 940, bottom: 234 } }),
	});
	const list = page.getByRole("listbox", { name: "Colour" });
	await expect(list).toBeFocused();
	await expect(list.getByRole("option", { name: "red" })).toHaveAttribute("aria-selected", "true");
	expect((await list.boundingBox())?.height).toBeGreaterThan(3 * 16);
	await list.getByRole("option", { name: "blue" }).click();
	expect(await studio.asked("answer")).toEqual({ do: "answer", ask: 4, ok: true, values: ["2"] });
	studio.setState({ ask: newAsk("select", { id: 5, text: "Colours", options, multiple: true }) });
	await expect(page.getByRole("listbox", { name: "Colours" })).toBeFocused();
	await page.keyboard.press("End");
	await page.keyboard.press(" ");
	await page.getByRole("button", { name: "OK" }).click();
	await expect.poll(() => studio.requests.at(-1)).toEqual({ do: "answer", ask: 5, ok: true, values: ["0", "2"] });
	studio.setState({ ask: newAsk("select", { id: 6, text: "Again", options }) });
	await expect(page.getByRole("listbox", { name: "Again" })).toBeFocused();
	await page.keyboard.press("Escape");
	await expect.poll(() => studio.requests.at(-1)).toEqual({ do: "answer", ask: 6, ok: false, values: [] });
});

test("the popup of a select gives the focus back, and leaves it to pages that look on", async ({ studio, page }) => {
	await studio.open();
	await studio.picture();
	const image = page.getByRole("img", { name: "Screen of" });
	const list = page.getByRole("listbox", { name: "Colour" });
	const address = page.getByRole("textbox", { name: "Address" });
	const ask = newAsk("select", { text: "Colour", options });
	await image.focus();
	studio.setState({ ask });
	await expect(list).toBeFocused();
	studio.setState({ ask: null });
	await expect(image).toBeFocused();
	studio.setState({ ask });
	await expect(list).toBeFocused();
	await address.focus();
	studio.setState({ ask: null });
	await expect(list).toHaveCount(0);
	await expect(address).toBeFocused();
	studio.setState({ ask, controls: false, url: "https://shop.example/last" });
	await expect(address).toHaveValue("https://shop.example/last");
	await expect(list).toHaveCount(0);
});

test("a new tab has Switch, a download Keep, an app with its data Start fresh", async ({ studio, page }) => {
	studio.state.notices = [
		{ id: 1, kind: "tab", text: "a new tab: Terms" },
		{ id: 2, kind: "download", text: "receipt.pdf" },
		{ id: 3, kind: "data", text: "com.example.shop was started with the data that it has" },
	];
	await studio.open();
	await page.getByRole("button", { name: "Switch" }).click();
	await expect.poll(() => studio.requests.at(-1)).toEqual({ do: "notice", notice: 1, action: "switch" });
	await page.getByRole("button", { name: "Keep" }).click();
	await expect.poll(() => studio.requests.at(-1)).toEqual({ do: "notice", notice: 2, action: "keep" });
	await page.getByRole("button", { name: "Start fresh" }).click();
	await expect.poll(() => studio.requests.at(-1)).toEqual({ do: "notice", notice: 3, action: "fresh" });
});
