// What people do at the page of a studio. Each task ends with a line of JSON: what the page complained about, and what the
// task found. Usage: node studio-tasks.mjs TASK BROWSER URL [SITE [SECRET | PID]]
import { readFileSync } from "node:fs";
import { expect } from "@playwright/test";
import { open, Person } from "./studio-person.mjs";

const [task, browser, url, site, more] = process.argv.slice(2);

const tasks = {
	/** Signs in, adds two items and checks the total, with the pointer. */
	async shop({ person }) {
		await person.navigate(site);
		await person.click('textbox "Email"', 2);
		await person.type("ada@example.com");
		await person.click('textbox "Password"', 3);
		await person.type("apples");
		await person.click('button "Sign in"', 4);
		await person.click('button "Add tea"', 5);
		await person.click('button "Add mug"', 6);
		await person.assert('status "Total 15.50"', /Text is "Total 15.50"/, 7);
		await person.save("trails/newcomer.trail.yaml");
	},

	/** On Android, begins without the data of the app, signs in, allows notifications, and writes a note to an order. */
	async android({ person }) {
		await person.recorded(1); // the studio opened the app
		await person.page.getByRole("button", { name: "Start fresh" }).click();
		await expect.poll(() => person.trail(), { timeout: 60_000 }).toContain("REINSTALL");
		await signIn(person);
		await person.click('button "Allow"');
		await person.click('text "Order 1148"');
		await person.click('textbox "Note"');
		await person.type("Ring twice");
		await person.click('button "Save note"');
		await person.assert('textbox "Note"', /"Ring twice"/);
		await person.save("trails/newcomer.trail.yaml");
	},

	/** On an iPhone, whose apps keep their data, signs in, looks at an order, and signs out again. */
	async ios({ person }) {
		const { page } = person;
		await person.recorded(1);
		await page.getByRole("button", { name: "Start fresh" }).click();
		await page.getByText("can be removed only on a simulator").first().waitFor();
		await signIn(person);
		await person.click('text "Order 1148"');
		await person.assert('button "Save note"', /^Is visible/);
		await person.click('button "Navigate up"');
		await person.click('button "Settings"');
		await person.click('button "Sign out"');
		await person.assert('textbox "Email"', /^Is visible/);
		await person.save("trails/newcomer.trail.yaml");
	},

	/** Does the task of shop without a pointer. */
	async keyboard({ person }) {
		const { page } = person;
		const { keyboard } = page;
		await person.rests();
		await person.tabTo(page.getByRole("textbox", { name: "Address" }));
		await keyboard.type(site);
		await keyboard.press("Enter");
		await person.recorded(1);
		await person.tabTo(person.picture);
		const pressed = async (key, calls) => {
			await keyboard.press(key);
			await person.recorded(calls);
		};
		await pressed("Tab", 2);
		await person.type("ada@example.com");
		await pressed("Tab", 4);
		await person.type("apples");
		await pressed("Enter", 6);
		await pressed("Tab", 7);
		await pressed("Enter", 8);
		await pressed("Tab", 9);
		await pressed("Enter", 10);
		await keyboard.press("Escape");
		await person.tabTo(page.getByRole("tab", { name: "Trail" }));
		await keyboard.press("ArrowRight");
		await keyboard.press("Alt+a");
		const tree = page.getByRole("tree", { name: "Elements" });
		const total = tree.getByRole("treeitem").filter({ hasText: /^status/ });
		await expect(total).toContainText("15.50", { timeout: 60_000 });
		await person.tabTo(tree.getByRole("treeitem"));
		for (let i = 0; i < 20 && !(await person.isFocused(total)); i++) await keyboard.press("ArrowDown");
		await keyboard.press("Enter");
		const check = page.getByRole("menuitem", { name: /Text is "Total 15.50"/ });
		await check.waitFor();
		await person.tabTo(page.getByRole("menuitem"));
		for (let i = 0; i < 20 && !(await person.isFocused(check)); i++) await keyboard.press("ArrowDown");
		await keyboard.press("Enter");
		await person.recorded(11);
		await keyboard.press("Control+s");
		await expect(page.getByRole("textbox", { name: "Title" })).toBeFocused();
		await keyboard.press("Tab");
		await expect(page.getByRole("textbox", { name: "File" })).toBeFocused();
		await keyboard.press("Control+a");
		await keyboard.type("trails/newcomer.trail.yaml");
		await keyboard.press("Enter");
		await page.getByRole("dialog", { name: "Saved", exact: true }).waitFor();
		await keyboard.press("Enter");
		await expect(person.status).not.toContainText("unsaved");
	},

	/** Replays a trail of which one call fails, picks another element for it, goes on and saves. */
	async repair({ person }) {
		const { page } = person;
		await person.rests();
		await person.press("Replay");
		const failed = person.steps.getByRole("treeitem").filter({ hasText: /failed: click button "Buy"/ });
		await failed.waitFor();
		await person.rests();
		await failed.click();
		await page.getByRole("button", { name: "Pick" }).click();
		await person.pointAt('button "Order"');
		await page.mouse.down();
		await page.mouse.up();
		await page.getByRole("listbox", { name: "Candidates" }).getByRole("option").first().click();
		for (const call of ["Order", "Bought"]) {
			await person.press("Next call");
			await person.steps.getByRole("treeitem").filter({ hasText: new RegExp(`passed: c.*${call}`) }).first().waitFor();
			await person.rests();
		}
		await person.save();
	},

	/** Changes a trail in many ways, undoes all of it, and does it again. */
	async undo({ person }) {
		const { page } = person;
		await person.rests();
		const texts = [await person.trail()];
		const change = async (does) => {
			await does();
			await expect.poll(() => person.trail(), { timeout: 60_000 }).not.toBe(texts.at(-1));
			texts.push(await person.trail());
		};
		const row = (text) => person.steps.getByRole("treeitem").filter({ hasText: text }).first();
		const button = (name) => page.getByRole("region", { name: "Selected" }).getByRole("button", { name, exact: true });
		await row("one.example").click();
		await change(() => page.getByRole("checkbox", { name: "optional" }).check());
		await change(async () => {
			await page.getByRole("textbox", { name: "timeout" }).fill("9s");
			await page.keyboard.press("Tab");
		});
		await row("two.example").click();
		await change(() => button("Split").click());
		await change(() => page.getByRole("button", { name: "Add step" }).click());
		await row("four.example").click();
		await change(() => button("Delete").click());
		await row("Open the others").click();
		await change(() => page.getByRole("radio", { name: "Verify" }).check());
		await change(async () => {
			await page.getByRole("textbox", { name: "Step", exact: true }).fill("Open what is left");
			await page.keyboard.press("Tab");
		});
		await change(() => button("Move up").click());
		await change(() => button("Join").click());
		for (const text of texts.slice(0, -1).reverse()) {
			await person.press("Undo");
			await expect.poll(() => person.trail(), { timeout: 60_000 }).toBe(text);
		}
		await expect(person.tool("Undo")).toHaveAttribute("aria-disabled", "true");
		await expect(person.status).not.toContainText("unsaved");
		for (const text of texts.slice(1)) {
			await person.press("Redo");
			await expect.poll(() => person.trail(), { timeout: 60_000 }).toBe(text);
		}
		await expect(person.tool("Redo")).toHaveAttribute("aria-disabled", "true");
		return texts.length;
	},

	/** Looks on in a second page, and takes over. */
	async takeOver({ context, person }) {
		await person.rests();
		const second = new Person(await context.newPage());
		await second.page.goto(person.page.url());
		const takeOver = (who) => who.page.getByRole("button", { name: "Take over" });
		await takeOver(second).waitFor();
		await expect(second.tool("Record")).toHaveAttribute("aria-disabled", "true");
		await takeOver(second).click();
		await takeOver(person).waitFor();
		await second.press("Record");
		for (const who of [person, second]) await expect(who.tool("Record")).toHaveAttribute("aria-pressed", "false");
		await expect(person.tool("Record")).toHaveAttribute("aria-disabled", "true");
		await second.page.close(); // the page that is left controls
		await person.press("Record");
		await expect(person.tool("Record")).toHaveAttribute("aria-pressed", "true");
	},

	/** Goes on with the recording that commands began in the same session, and replays it there. */
	async together({ person }) {
		const { page } = person;
		await person.recorded(1);
		await person.click('textbox "Email"', 2);
		await person.type("ada@example.com");
		await person.click('textbox "Password"', 3);
		await person.type("apples");
		await person.click('button "Sign in"', 4);
		await person.press("Replay");
		await person.steps.getByRole("treeitem").filter({ hasText: 'passed: click button "Sign in"' }).waitFor();
		await person.rests();
		await page.getByRole("tab", { name: "Variables" }).click();
		const form = page.getByRole("form", { name: "Add a variable" });
		await form.getByLabel("Name").fill("WHO");
		await form.getByLabel("Value").fill("Ada");
		await form.getByRole("button", { name: "Add" }).click();
		await page.getByText("this session was started by the command line").first().waitFor();
	},

	/** Records two calls. */
	async begin({ person }) {
		await person.navigate(site);
		await person.click('button "Add tea"', 2);
	},

	/** Goes on with the recording that a studio left that was killed. */
	async restore({ person }) {
		await person.rests();
		await person.page.getByRole("button", { name: "Restore" }).click();
		await person.recorded(2);
		await person.save("trails/restored.trail.yaml");
	},

	/** Answers what a picture does not show. */
	async asks({ person }) {
		const { page } = person;
		await person.navigate(site);
		await person.click('combobox "Colour"');
		await page.getByRole("region", { name: "Screen" }).getByRole("option", { name: "Blue" }).click();
		await person.recorded(2);
		await person.click('button "Delete"');
		await page.getByRole("dialog").getByRole("button", { name: "OK" }).click();
		await person.assert('status "Deleted Blue"', /^Is visible/, 5); // with the call that answers the dialog
		await person.click('button "Attach"');
		await page.getByRole("dialog").getByRole("textbox").fill("photo.txt");
		await page.getByRole("dialog").getByRole("button", { name: "OK" }).click();
		await person.recorded(7);
		await person.click('link "Save it"', 8);
		await page.getByRole("button", { name: "Keep" }).first().click();
		await person.recorded(9);
		await person.click('textbox "Day"');
		await page.getByRole("dialog").getByLabel("Date").fill("2026-11-26");
		await page.getByRole("dialog").getByRole("button", { name: "OK" }).click();
		await person.recorded(10);
		await person.click('link "Terms"', 11);
		await page.getByRole("button", { name: "Switch" }).click();
		await person.recorded(12);
		await person.assert('heading "The terms"', /^Is visible/, 13);
		await person.save("trails/asks.trail.yaml");
	},

	/** Makes what a call types a secret, and replays it. */
	async secret({ person }) {
		const { page } = person;
		await person.navigate(site);
		await person.click('textbox "Password"', 2);
		await person.type("x");
		await page.getByRole("tab", { name: "Variables" }).click();
		const form = page.getByRole("form", { name: "Add a variable" });
		await form.getByLabel("Name").fill("PASSWORD");
		await form.getByRole("checkbox").check();
		await form.getByLabel("Value").fill(more);
		await form.getByRole("button", { name: "Add" }).click();
		await page.getByRole("rowheader", { name: "{{PASSWORD}}" }).waitFor();
		await person.rests();
		await person.steps.getByRole("treeitem").filter({ hasText: "Password" }).last().click();
		const text = page.getByRole("region", { name: "Selected" }).getByRole("textbox", { name: /^text/ });
		await text.fill("{{PASSWORD}}");
		await page.keyboard.press("Tab");
		await person.press("Replay");
		await expect(person.steps.getByRole("treeitem").filter({ hasText: /^passed: type .*Password/ })).toHaveCount(1, { timeout: 60_000 });
		await person.status.filter({ hasText: /^(Recording|Ready)/ }).waitFor();
		await page.getByRole("tab", { name: "Elements" }).click();
		await page.getByRole("tree", { name: "Elements" }).getByRole("treeitem").filter({ hasText: "Hello" }).waitFor();
		await person.save("trails/secret.trail.yaml");
		const received = person.received.filter((data) => data.includes(more));
		const shown = await page.content();
		return { received: received.map((data) => data.toString().slice(0, 300)), shown: shown.includes(more) };
	},

	/** Watches a page on which nothing happens for three seconds. */
	async idle({ person }) {
		const used = () => {
			const words = readFileSync(`/proc/${more}/stat`, "utf8").split(") ")[1].split(" ");
			return (Number(words[11]) + Number(words[12])) / 100; // in seconds: the clock of Linux ticks 100 times in one
		};
		await person.navigate(site);
		await person.row('button "Add tea"');
		let found;
		await expect(async () => {
			const before = { messages: person.received.length, used: used() };
			await new Promise((done) => setTimeout(done, 3000));
			found = { messages: person.received.length - before.messages, cpu: (used() - before.used) / 3 };
			expect(found).toEqual({ messages: 0, cpu: expect.closeTo(0, 1) });
		}).toPass({ timeout: 30_000 }); // it comes to rest first
		return found;
	},

	/** Measures interactions with a trail of 1,000 steps and a screen of 10,000 elements, against a loop. */
	async large({ context, person }) {
		const { page } = person;
		await person.rests();
		const address = page.getByRole("textbox", { name: "Address" });
		await address.fill(site);
		await address.press("Enter");
		await person.row('button "Item 9999"');
		const session = await context.newCDPSession(page);
		const measured = await page.evaluate(async () => {
			const shown = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
			const median = async (does) => {
				const times = [];
				for (let i = 0; i < 9; i++) {
					await shown();
					const began = performance.now();
					await does(i);
					times.push(performance.now() - began);
				}
				return times.sort((a, b) => a - b)[4];
			};
			const loop = () => {
				let x = 1;
				for (let i = 0; i < 2e6; i++) x = (x * 16807) % 2147483647;
				return x;
			};
			const find = document.querySelector("input[aria-label=find]");
			const steps = document.querySelector("[role=tree][aria-label=Steps]");
			return {
				loop: await median(loop),
				find: await median((i) => {
					find.value = `Item ${i}`;
					find.dispatchEvent(new Event("input", { bubbles: true }));
					return shown();
				}),
				select: await median((i) => {
					steps.querySelectorAll("[role=treeitem]")[i].click();
					return shown();
				}),
				scroll: await median((i) => {
					steps.parentElement.scrollTop = 2000 * (i + 1);
					return shown();
				}),
			};
		});
		await session.send("HeapProfiler.collectGarbage");
		const { usedSize } = await session.send("Runtime.getHeapUsage");
		return { ...measured, megabytes: usedSize / 1e6 };
	},
};

/** Signs in to the shop on a phone, with the pointer. */
async function signIn(person) {
	await person.click('textbox "Email"', 2);
	await person.type("ada@example.com");
	await person.click('textbox "Password"');
	await person.type("apples");
	await person.page.keyboard.press("Enter"); // the keyboard of the phone is above the button
}

const opened = await open(browser, url);
let found;
try {
	found = await tasks[task](opened);
} catch (error) {
	const { page } = opened.person;
	await page.screenshot({ path: process.env.STUDIO_SHOT ? `${process.env.STUDIO_SHOT}-${task}.png` : "/dev/null", type: "png" }).catch(() => {});
	console.error(opened.person.complaints.join("\n"));
	console.error(await page.locator("body").innerText().catch(() => ""));
	throw error;
}
console.log(JSON.stringify({ found, complaints: opened.person.complaints }));
await opened.program.close();
