// What people do at the page of a studio. Each task ends with a line of JSON: what the page complained about, and what the
// task found. Usage: node studio-tasks.mjs TASK BROWSER URL [SITE]
import { expect } from "@playwright/test";
import { open } from "./studio-person.mjs";

const [task, browser, url, site] = process.argv.slice(2);

const tasks = {
	/** Signs in, adds two items and checks the total, with the pointer. */
	async shop({ person }) {
		await person.rests();
		const address = person.page.getByRole("textbox", { name: "Address" });
		await address.fill(site);
		await address.press("Enter");
		await person.recorded(1);
		await person.click('textbox "Email"', 2);
		await person.type("ada@example.com");
		await person.click('textbox "Password"', 3);
		await person.type("apples");
		await person.click('button "Sign in"', 4);
		await person.click('button "Add tea"', 5);
		await person.click('button "Add mug"', 6);
		await person.assert('status "Total"', /Text is "Total 15.50"/, 7);
		await person.save("trails/newcomer.trail.yaml");
	},
};

const opened = await open(browser, url);
let found;
try {
	found = await tasks[task](opened);
} catch (error) {
	const { page } = opened.person;
	await page.screenshot({ path: process.env.STUDIO_SHOT ?? "/dev/null", type: "png" }).catch(() => {});
	console.error(await page.locator("body").innerText().catch(() => ""));
	throw error;
}
console.log(JSON.stringify({ found, complaints: opened.person.complaints }));
await opened.program.close();
