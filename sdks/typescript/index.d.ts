/**
 * Tools for trailblaze, in TypeScript.
 *
 * Import this package before others: from then on, what is logged goes to stderr, because stdout carries the protocol.
 */

/** Any schema library's schema: zod from 3.25 on, valibot, arktype. See https://standardschema.dev. */
export interface StandardSchema<Input = any, Output = any> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown, ...rest: any[]) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: { readonly input: (options: any) => Record<string, unknown> } | undefined;
  };
}

type StandardResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A JSON Schema of an object. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/**
 * What a tool takes: schemas by the name of the argument, one schema for all arguments, or a JSON Schema. Arguments are
 * checked against the first two; with a JSON Schema they arrive as they were sent.
 */
export type InputSchema = { readonly [name: string]: StandardSchema } | StandardSchema | JsonSchema;

type OutputOf<S> = S extends StandardSchema ? NonNullable<S["~standard"]["types"]>["output"] : never;
type Shaped<S> = { [K in keyof S]: OutputOf<S[K]> };
type OptionalKeys<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T];
type Flat<T> = { [K in keyof T]: T[K] } & {};
type WithOptional<T> = Flat<Omit<T, OptionalKeys<T>> & Partial<Pick<T, OptionalKeys<T>>>>;

/** The arguments that a handler gets. With a JSON Schema they are `any`: write down their type yourself. */
export type Args<S> = S extends StandardSchema
  ? OutputOf<S>
  : S extends { readonly [name: string]: StandardSchema }
    ? WithOptional<{ -readonly [K in keyof Shaped<S>]: Shaped<S>[K] }>
    : any;

/** What trailblaze wants to know of a tool. */
export interface ToolMeta {
  /** The keys of the drivers it works with, such as `ios-host`. All of them if left out. */
  supportedDrivers?: readonly string[];
  /** All of them if left out. */
  supportedPlatforms?: readonly ("ANDROID" | "IOS" | "WEB" | "android" | "ios" | "web")[];
  /** It needs files, network or processes, so it is not offered in on-device mode. */
  requiresHost?: boolean;
  /**
   * true: it works only in a session, and calls from elsewhere are answered with an error. false: it also works elsewhere,
   * and `ctx` has a type that says so.
   */
  requiresContext?: boolean;
  /** Shown to agents; true if left out. */
  isForLlm?: boolean;
  /** Written into recordings; true if left out. */
  isRecordable?: boolean;
  /** It hands its work to other tools; see {@link delegate}. */
  isDelegating?: boolean;
  /** The toolset it joins, made if no file defines it. */
  toolset?: string;
  /** Its limit in milliseconds, in place of the server's. */
  timeoutMs?: number;
}

/** The same by their full names, and whatever other keys a client knows. */
export type RawToolMeta = { [K in keyof ToolMeta as `trailblaze/${K}`]?: ToolMeta[K] } & { [key: string]: unknown };

export interface ToolAnnotations {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
}

export interface ToolDefinition<S extends InputSchema, M extends ToolMeta = ToolMeta> {
  title?: string;
  description?: string;
  inputSchema?: S;
  outputSchema?: JsonSchema;
  annotations?: ToolAnnotations;
  meta?: M;
  _meta?: RawToolMeta;
}

/** A result as MCP has it. */
export interface ToolResult {
  content: ({ type: string; text?: string } & { [key: string]: unknown })[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  _meta?: {
    trailblaze?: { variant?: "FatalError"; memoryDelta?: Record<string, string>; memoryDeletions?: string[] };
    [key: string]: unknown;
  };
  [key: string]: unknown;
}

/** The session's memory as it was when the call was sent, with this call's changes and those that came back from other tools. */
export interface TrailblazeMemory {
  /** Values are texts, or what a trail's `saveAs` kept. */
  get<T = any>(name: string): T | undefined;
  has(name: string): boolean;
  /** Keeps a text. Numbers and booleans become one, objects and lists become JSON. Throws for undefined and null. */
  set(name: string, value: string | number | boolean | object): this;
  /** Whether it was there. */
  delete(name: string): boolean;
  keys(): IterableIterator<string>;
  entries(): IterableIterator<[string, any]>;
}

export interface TrailblazeDevice {
  platform: "android" | "ios" | "web" | (string & {});
  /** 0 when unknown, like the height. */
  widthPixels: number;
  heightPixels: number;
  /** The driver's key, such as `playwright-native`. */
  driverType: string;
  /** What the platform calls the device (a serial, a UDID), else its name; absent when the run has one device without a name. */
  deviceId?: string;
  /** The device's name in the project file or after --device; absent when it has none. */
  deviceName?: string;
}

export interface TrailblazeTarget {
  id: string;
  displayName?: string;
  appIds: string[];
  appId?: string;
}

/** What a tool knows of the session and of the call that it answers. */
export interface TrailblazeContext {
  sessionId: string;
  /** Whoever holds it may act for this call: do not print it. */
  invocationId: string;
  baseUrl: string | undefined;
  device: TrailblazeDevice;
  target: TrailblazeTarget | undefined;
  /** What a call changes here reaches the session with its next `callTool`, or with its result if it succeeds. */
  memory: TrailblazeMemory;
  /** Aborted when the call is over its limit or its session ends. */
  signal: AbortSignal;
  /** Says what the tool is doing, and starts the call's limit anew. */
  progress(message: string): void;
}

export interface ToolReply {
  /** The first text of the answer, `""` if there is none. */
  text: string;
  structured: Record<string, unknown> | undefined;
  /** The structured content, else the text read as JSON. Throws if it is none. */
  json<T = any>(): T;
}

/** Calls the session's other tools. */
export class TrailblazeClient {
  private constructor();

  /**
   * The client of a call, in a server written on the MCP SDK.
   * @param extra what the SDK hands to a tool's callback besides the arguments, in its version 1 as well as 2
   */
  static fromContext(extra: unknown): TrailblazeClient;

  /**
   * Calls a tool. Arguments are values: `{{name}}` in them means itself.
   * @throws {TrailblazeToolError} The tool said no.
   * @throws {TrailblazeCallbackError} The call did not get there, always so outside a session.
   */
  callTool(tool: string, args?: object): Promise<ToolReply>;
}

/** A tool that was called and said no. */
export class TrailblazeToolError extends Error {
  constructor(tool: string, reason: string);
  readonly tool: string;
  /** What the tool said; the message names the tool as well. */
  readonly reason: string;
}

/** A call that did not get through to the tool, or whose answer did not get back. */
export class TrailblazeCallbackError extends Error {
  constructor(tool: string, reason: string, cause?: unknown);
  readonly tool: string;
  /** Why; the message names the tool as well. */
  readonly reason: string;
}

export interface ServerInfo {
  /** The script's name if left out. */
  name?: string;
  version?: string;
}

/** The context of a tool: there is none outside a session, which a tool that says `requiresContext: false` has to expect. */
type ContextFor<M> = M extends { requiresContext: false } ? TrailblazeContext | undefined : TrailblazeContext;

export interface Trailblaze {
  /**
   * Registers a tool. What its handler returns becomes the result: a text as it is, an object as JSON and as structured
   * content, a result of {@link success}, {@link error}, {@link fatalError}, {@link delegate} or of MCP as it is. What it throws
   * becomes a failure.
   *
   * Outside a session `ctx` is undefined, and `client.callTool` throws.
   */
  tool<const S extends InputSchema = {}, const M extends ToolMeta = ToolMeta>(
    name: string,
    definition: ToolDefinition<S, M>,
    handler: (args: Args<S>, ctx: ContextFor<M>, client: TrailblazeClient) => unknown,
  ): void;

  /**
   * Serves the tools on stdin and stdout, and ends the process when stdin ends. Resolves as soon as it serves. Where the main
   * program is a test, `*.test.ts` or the like, it serves nothing and says so on stderr: tests may import a file that calls it.
   *
   * A program that was started with `--transport http --port N`, as trailblaze does it for an entry with `multiDevice: http`,
   * serves them at `http://127.0.0.1:N/mcp` instead, to several clients at once.
   */
  run(info?: ServerInfo): Promise<void>;
}

export const trailblaze: Trailblaze;

/** A success: a text, or a value as JSON and, if it is an object, as structured content. */
export function success(value?: unknown): ToolResult;

/** A failure, which fails the trail with this message. */
export function error(message: string): ToolResult;

/** A failure after which no call can work: it ends the trail as an error, which points at the environment and not at the app. */
export function fatalError(message: string): ToolResult;

export interface Delegate {
  tool: string;
  args?: object;
}

/** Hands over to other tools: trailblaze calls them, in order, in place of this one, and the last one's result is the result. */
export function delegate(calls: Delegate[]): ToolResult;

export interface MockContextOptions {
  sessionId?: string;
  invocationId?: string;
  device?: Partial<TrailblazeDevice>;
  target?: TrailblazeTarget;
  memory?: Record<string, unknown>;
  signal?: AbortSignal;
}

export interface MockContext extends TrailblazeContext {
  /** What the tool told about its progress. */
  messages: string[];
}

/** A context for unit tests. */
export function createMockContext(options?: MockContextOptions): MockContext;

export interface MockClientOptions {
  /** What each tool answers, in any form that a handler may return, or a function of its arguments that returns such. */
  tools?: Record<string, MockTool>;
}

type MockTool = ((args: any) => unknown) | object | string | number | boolean | null | undefined;

export interface MockClient extends TrailblazeClient {
  /** What was called, in order. */
  calls: { tool: string; args: Record<string, any> }[];
}

/** A client for unit tests, with tools of its own. */
export function createMockClient(options?: MockClientOptions): MockClient;
