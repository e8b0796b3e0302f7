// A studio without a server: the files of dist, with the server's policy, and a socket that answers as tests say.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { test as base, expect, type Page, type WebSocketRoute } from "@playwright/test";
import type { Do, Document, Failure, LogLine, Push, Request, State } from "../src/protocol";
import { newDocument, newLook, newState, shopPage, toolList } from "./samples";

export { expect };

const policy =
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob: data:; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
const types: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

/** Answers a request with its result, or a promise of it. What it throws is a refusal. */
type Answer = (request: Request) => unknown;

export class Refusal extends Error {
	constructor(readonly failure: Failure) {
		super(failure.message);
	}
}

/** Pictures that were taken, by size and content. */
const pictures = new Map<string, Buffer>();

export class Studio {
	state: State = newState();
	document: Document = newDocument();
	/** All requests of the page, without those that it makes by itself. */
	readonly requests: Do[] = [];
	/** By the name of the request; others are answered with nothing. */
	readonly answers: Record<string, Answer> = {
		look: () => newLook(),
		tools: () => toolList(),
		pageLog: () => ({ earlier: [], sinceLastAction: ["GET https://shop.example/cart 200"], more: 0 }),
		sessions: () => [],
	};
	/** Whether the page loads pictures of the sample page. */
	pictures = true;
	private readonly lines: LogLine[] = [];
	private socket: WebSocketRoute | null = null;
	/** The number of the last picture that the page has shown. */
	shown = 0;
	private seq = 0;

	constructor(readonly page: Page) {}

	/** Opens the page, and waits until it has shown the document. */
	async open(): Promise<void> {
		await this.page.route("http://studio.test/folder/**", (route) => {
			const file = new URL(route.request().url()).pathname.replace("/folder", "").replace(/\/$/, "/index.html");
			const onDisk = path.join(import.meta.dirname, "../dist", `${file}.gz`);
			if (!existsSync(onDisk)) return route.fallback(); // Tests answer for the server.
			const headers = { "content-security-policy": policy, "content-type": types[path.extname(file)] ?? "text/plain" };
			return route.fulfill({ body: gunzipSync(readFileSync(onDisk)), headers });
		});
		await this.page.routeWebSocket("ws://studio.test/folder/socket", (socket) => this.connected(socket));
		const errors: string[] = [];
		this.page.on("pageerror", (error) => errors.push(error.message));
		this.page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
		await this.page.goto("/folder/");
		await expect(this.page.getByRole("toolbar", { name: "Session" })).toBeAttached();
		expect(errors).toEqual([]);
	}

	push(push: Push): void {
		this.socket?.send(JSON.stringify(push));
	}

	/** Adds lines to the log, all of which a page gets when it connects. */
	log(...lines: LogLine[]): void {
		this.lines.push(...lines);
		this.push({ on: "log", lines });
	}

	setState(change: Partial<State>): void {
		Object.assign(this.state, change);
		this.push({ on: "state", ...this.state });
	}

	setDocument(change: Partial<Document>): void {
		Object.assign(this.document, change);
		this.document.version++;
		this.push({ on: "document", ...this.document });
	}

	/** Sends a picture of a page with this content, as often as times says, without waiting until one is shown. */
	async picture(content = shopPage, times = 1): Promise<void> {
		const { width, height } = this.state.screen;
		const image = await this.pictureOf(content);
		for (let i = 0; i < times; i++) {
			this.push({ on: "picture", seq: ++this.seq, width, height, withheld: "" });
			this.socket?.send(image);
		}
	}

	/** Returns a picture of a page with this content, which is taken once. A busy Chromium may be unable to take one. */
	private async pictureOf(content: string): Promise<Buffer> {
		const { width, height } = this.state.screen;
		const key = `${width}x${height} ${content}`;
		let image = pictures.get(key);
		if (!image) {
			const page = await this.page.context().newPage();
			await page.setViewportSize({ width, height });
			await page.setContent(content);
			await expect(async () => {
				image = await page.screenshot({ type: "jpeg", quality: 85 });
			}).toPass();
			await page.close();
			if (!image) throw new Error("no picture was taken");
			pictures.set(key, image);
		}
		return image;
	}

	/** Waits for a request of this kind, and returns the last one. */
	async asked<Name extends Do["do"]>(name: Name): Promise<Extract<Do, { do: Name }>> {
		await expect
			.poll(() => this.requests.filter((request) => request.do === name).length, { message: name })
			.toBeGreaterThan(0);
		return this.requests.findLast((request) => request.do === name) as Extract<Do, { do: Name }>;
	}

	/** Ends the connection, as a server does that was killed. */
	async drop(): Promise<void> {
		await this.socket?.close({ code: 1001, reason: "dropped" });
	}

	private connected(socket: WebSocketRoute): void {
		this.socket = socket;
		socket.onMessage((message) => void this.answer(JSON.parse(String(message)) as Request));
		this.setState({});
		this.push({ on: "document", ...this.document });
		this.push({ on: "log", lines: this.lines });
	}

	private async answer(request: Request): Promise<void> {
		const { id, ...what } = request;
		if (what.do === "seen") this.shown = what.seq;
		if (!["seen", "visible", "look", "tools"].includes(what.do)) this.requests.push(what as Do);
		try {
			const result = await this.answers[request.do]?.(request);
			this.socket?.send(JSON.stringify({ re: id, ok: true, result }));
		} catch (error) {
			const failure = error instanceof Refusal ? error.failure : { message: String(error) };
			this.socket?.send(JSON.stringify({ re: id, ok: false, error: failure }));
		}
	}
}

export const test = base.extend<{ studio: Studio }>({
	studio: async ({ page }, use) => use(new Studio(page)),
});
