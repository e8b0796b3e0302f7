// What the studio without a server shows.
import type { Call, Document, Element, Location, Look, State, Step, Tool } from "../src/protocol";

export function newState(): State {
	return {
		project: "shop",
		device: "web/desktop",
		devices: [
			{ name: "web/desktop", platform: "web", why: "" },
			{ name: "web/phone", platform: "web", why: "" },
			{ name: "android/emulator-5554", platform: "android", why: "no device responds: start an emulator" },
		],
		platform: "web",
		screen: { width: 1000, height: 700 },
		url: "https://shop.example/cart",
		title: "Cart – Corner shop",
		activity: "idle",
		doing: "",
		recording: true,
		controls: true,
		pages: 1,
		unsaved: true,
		file: "trails/buy-tea.trail.yaml",
		trailsDir: "trails/",
		typing: null,
		ask: null,
		notices: [],
		variables: [
			{ name: "CUSTOMER", value: "Ada", secret: false },
			{ name: "PASSWORD", value: "", secret: true },
		],
		kept: null,
		past: "",
	};
}

export function newCall(number: string, tool: string, brief: string, more: Partial<Call> = {}): Call {
	const line = 4 + 3 * Number(number.split(".")[1] ?? 0);
	return {
		number,
		tool,
		brief,
		args: {},
		optional: false,
		soft: false,
		timeout: "",
		saveAs: "",
		line,
		outcome: "",
		message: "",
		...more,
	};
}

export function newStep(number: string, text: string, calls: Call[], more: Partial<Step> = {}): Step {
	return {
		number,
		kind: "step",
		text,
		provisional: false,
		classifiers: ["web"],
		classifier: "web",
		line: 4 * Number(number),
		calls,
		outcome: "",
		...more,
	};
}

export function newDocument(): Document {
	const save = { nodeSelector: { role: "button", name: "Check out" } };
	return {
		version: 1,
		text: trailText,
		title: "Buy tea",
		problems: [],
		steps: [
			newStep(
				"1",
				"Open the shop",
				[newCall("1.1", "web_navigate", "open https://shop.example", { outcome: "passed" })],
				{
					outcome: "passed",
				},
			),
			newStep(
				"2",
				"Put tea into the cart",
				[
					newCall("2.1", "web_click", 'click link "Tea"', { outcome: "passed" }),
					newCall("2.2", "web_click", 'click button "Add to cart"', { outcome: "passed", optional: true }),
				],
				{ outcome: "passed" },
			),
			newStep(
				"3",
				"Check out",
				[
					newCall("3.1", "web_click", 'click button "Check out"', {
						outcome: "failed",
						args: save,
						message: 'no button "Check out" within 5s; there is a button "Pay now"',
					}),
					newCall("3.2", "web_type", 'type "{{CUSTOMER}}" into "Name"'),
				],
				{ outcome: "failed" },
			),
			newStep("4", "The order is confirmed", [newCall("4.1", "web_verify_text_visible", 'text "Thank you"')], {
				kind: "verify",
			}),
		],
		selected: "",
		next: "3.2",
		canUndo: true,
		canRedo: false,
		lineage: ["web-desktop", "web"],
	};
}

export const trailText = `- config:
    title: Buy tea
- prompts:
    - step: Open the shop
      recording:
        tools:
          - web_navigate:
              url: https://shop.example
    - step: Put tea into the cart
      recording:
        tools:
          - web_click:
              nodeSelector: {role: link, name: Tea}
`;

/** A page of a shop. Its elements are at the bounds of newLook. */
export const shopPage = `<!doctype html><style>
	body { margin: 0; font: 16px system-ui; background: #fff; color: #222 }
	* { box-sizing: border-box }
	header, main > * { position: absolute }
	header { inset: 0 0 auto; height: 64px; background: #0b5d4b; color: #fff; padding: 18px 40px; font-size: 22px }
	h1 { left: 40px; top: 90px; margin: 0 } li { list-style: none }
	table { left: 40px; top: 160px; width: 620px; border-collapse: collapse } td { border-bottom: 1px solid #ddd; padding: 14px 8px }
	button { left: 700px; top: 260px; width: 240px; height: 48px; background: #0b5d4b; color: #fff; border: 0; border-radius: 8px; font: inherit }
	input { left: 700px; top: 190px; width: 240px; height: 44px; font: inherit; padding: 0 10px } label { left: 700px; top: 164px }
</style><header>Corner shop</header><main><h1>Your cart</h1>
<table><tr><td>Earl Grey, 100 g<td>2<td>18.00 €<tr><td>Sencha, 50 g<td>1<td>12.00 €<tr><td><b>Total</b><td><td><b>30.00 €</b></table>
<label>Name</label><input value="Ada"><button>Pay now</button></main>`;

export function newLook(): Look {
	const leaf = (
		ref: string,
		role: string,
		name: string,
		x: number,
		y: number,
		width: number,
		height: number,
	): Element => ({
		ref,
		role,
		name,
		bounds: { left: x, top: y, right: x + width, bottom: y + height },
	});
	return {
		url: "https://shop.example/cart",
		title: "Cart – Corner shop",
		width: 1000,
		height: 700,
		root: {
			role: "document",
			name: "Cart – Corner shop",
			bounds: { left: 0, top: 0, right: 1000, bottom: 700 },
			children: [
				{ ...leaf("e1", "banner", "", 0, 0, 1000, 64), content: "Corner shop" },
				leaf("e2", "heading", "Your cart", 40, 90, 300, 40),
				{
					...leaf("e3", "table", "", 40, 160, 620, 150),
					children: [
						leaf("e4", "cell", "Earl Grey, 100 g", 40, 160, 300, 50),
						leaf("e5", "cell", "عربي שלום", 40, 210, 300, 50),
					],
				},
				{ ...leaf("e6", "textbox", "Name", 700, 190, 240, 44), content: "Ada", states: ["focused"] },
				leaf("e7", "button", "Pay now", 700, 260, 240, 48),
			],
		},
	};
}

export function newLocation(): Location {
	const call = (tool: string, args: Record<string, unknown>) => ({ tool, args });
	return {
		element: { ref: "e7", role: "button", name: "Pay now", bounds: { left: 700, top: 260, right: 940, bottom: 308 } },
		candidates: [
			{ by: "role and name", selector: { role: "button", name: "Pay now" }, matches: 1 },
			{ by: "text", selector: { text: "Pay now" }, matches: 1, notes: ["text changes with the language"] },
			{ by: "css", selector: { css: "main > button" }, matches: 2 },
		],
		checks: [
			{
				label: "Visible",
				call: call("web_verify_element_visible", { nodeSelector: { role: "button", name: "Pay now" } }),
			},
			{ label: 'Text is "Pay now"', call: call("web_verify_text", { text: "Pay now" }) },
			{ label: "Enabled", call: call("web_verify_state", { state: "enabled" }) },
		],
	};
}

export function toolList(): Tool[] {
	return [
		{
			name: "shop_addCustomer",
			description: "Adds a customer to the shop.",
			source: "shop",
			schema: {
				type: "object",
				required: ["name"],
				properties: {
					name: { type: "string", description: "Of the customer" },
					age: { type: "integer" },
					vip: { type: "boolean" },
					plan: { enum: ["free", "paid"] },
				},
			},
		},
		{
			name: "web_click",
			description: "Clicks an element.",
			source: "web",
			schema: {
				type: "object",
				properties: { nodeSelector: { type: "object" }, button: { enum: ["left", "right"] } },
			},
		},
	];
}
