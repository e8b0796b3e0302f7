// A document and tools as the server sends them.
import type { Document, Step, Tool } from "../src/protocol";
import { newCall, newDocument, newStep } from "./samples";

export const text = `# Tea for Ada
config:
  title: Buy tea
trail:
  - step: Open the shop
    recording:
      web:
        - web_navigate: { url: https://shop.example }
  - step: Put tea into the cart
    recording:
      web:
        - web_click:
            nodeSelector: { web: { ariaRole: link, ariaNameRegex: Tea } }
        - web_type: { ref: textbox "Name", text: Ada }
  - verify: The cart shows the tea
    recording:
      web:
        - web_verifyTextVisible: { text: Tea }
`;

const selector = { web: { ariaRole: "link", ariaNameRegex: "Tea" } };

const steps: Step[] = [
	newStep(
		"1",
		"Open the shop",
		[newCall("1.1", "web_navigate", "open https://shop.example", { args: { url: "https://shop.example" }, line: 8 })],
		{ line: 5 },
	),
	newStep(
		"2",
		"Put tea into the cart",
		[
			newCall("2.1", "web_click", 'click link "Tea"', { args: { nodeSelector: selector }, line: 12 }),
			newCall("2.2", "web_type", 'type "Ada" into "Name"', {
				args: { ref: 'textbox "Name"', text: "Ada" },
				line: 14,
			}),
		],
		{ line: 9 },
	),
	newStep(
		"3",
		"The cart shows the tea",
		[newCall("3.1", "web_verifyTextVisible", 'text "Tea"', { args: { text: "Tea" }, line: 18 })],
		{ line: 15, kind: "verify" },
	),
];

export function trailDocument(): Document {
	return { ...newDocument(), text, steps: structuredClone(steps) };
}

const nodeSelector = {
	type: "object",
	additionalProperties: false,
	description: "The element: one driver block; relations are selectors like this one",
	properties: {
		web: {
			type: "object",
			additionalProperties: false,
			properties: {
				cssSelector: { type: "string" },
				ariaRole: { type: "string", description: "Role in the accessibility tree" },
				ariaNameRegex: { type: "string", description: "The whole of it: equal, or matching as a regular expression" },
				nthIndex: { type: "integer", minimum: 0, description: "Which of several, from 0" },
			},
		},
		androidAccessibility: { type: "object" },
		below: { type: "object" },
	},
};
const ref = { type: "string", description: 'The element: css=SELECTOR, role "name", a role, or its text' };

export const tools: Tool[] = [
	{
		name: "web_click",
		source: "web",
		description: "Clicks an element once, when it is ready.",
		schema: {
			type: "object",
			additionalProperties: false,
			properties: {
				ref,
				nodeSelector,
				button: { type: "string", pattern: "^(?i:LEFT|RIGHT|MIDDLE)$", default: "LEFT", description: "The button" },
				count: { type: "integer", minimum: 1, maximum: 2, default: 1, description: "2 for a double click" },
				modifiers: {
					type: ["array", "string"],
					items: { type: "string", pattern: "^(?i:Alt|Control|Meta|Shift)$" },
					description: "Keys that are held down",
				},
			},
		},
	},
	{
		name: "web_type",
		source: "web",
		description: "Enters text into the only field that matches.",
		schema: {
			type: "object",
			additionalProperties: false,
			required: ["text"],
			properties: {
				text: { type: "string" },
				clearFirst: { type: "boolean", default: true, description: "Replace the content" },
				ref,
				nodeSelector,
				timeoutMs: { type: "integer", minimum: 0, maximum: 600000, description: "How long to wait" },
			},
		},
	},
	{
		name: "web_verifyTextVisible",
		source: "web",
		description: "Fails unless a text is visible.",
		schema: { type: "object", required: ["text"], properties: { text: { type: "string" } } },
	},
	{
		name: "assertEquals",
		source: "trailblaze",
		description: "Fails unless two values are equal.",
		schema: { type: "object", required: ["expected", "actual"], properties: { expected: {}, actual: {} } },
	},
	{
		name: "openShop",
		source: "shop",
		description: "Opens the shop for a new customer. Remembers {{shopUrl}} and {{email}}.",
		schema: {
			type: "object",
			required: ["country", "tags"],
			properties: {
				country: { type: "string", enum: ["Austria", "Germany", "Japan"], description: "Where the customer lives" },
				tags: { type: "array", items: { type: "string" }, description: "What the customer likes" },
				address: {
					type: "object",
					required: ["street"],
					properties: { street: { type: "string" }, number: { type: "integer" } },
				},
				limit: { anyOf: [{ type: "integer" }, { type: "null" }], description: "How much they may spend" },
			},
		},
	},
	{
		name: "resetShop",
		source: "shop",
		description: "Empties all carts.",
		schema: { type: "object", properties: {} },
	},
];
