/**
 * Tools for trailblaze, in TypeScript.
 *
 * Import this package before others. From then on, the console writes to stderr, because stdout is used for MCP messages.
 */

/** A schema of a schema library: zod 3.25 or later, valibot, arktype. See https://standardschema.dev. */
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
 * The arguments of a tool: schemas by the name of the argument, one schema for all arguments, or a JSON Schema. Arguments are
 * checked with the first two. With a JSON Schema, they are passed as they were sent.
 */
export type InputSchema = { readonly [name: string]: StandardSchema } | StandardSchema | JsonSchema;

type OutputOf<S> = S extends StandardSchema ? NonNullable<S["~standard"]["types"]>["output"] : never;
type Shaped<S> = { [K in keyof S]: OutputOf<S[K]> };
type OptionalKeys<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T];
type Flat<T> = { [K in keyof T]: T[K] } & {};
type WithOptional<T> = Flat<Omit<T, OptionalKeys<T>> & Partial<Pick<T, OptionalKeys<T>>>>;

/** The arguments that a handler receives. With a JSON Schema they are `any`, and you declare their type. */
export type Args<S> = S extends StandardSchema
  ? OutputOf<S>
  : S extends { readonly [name: string]: StandardSchema }
    ? WithOptional<{ -readonly [K in keyof Shaped<S>]: Shaped<S>[K] }>
    : any;

/** Metadata of a tool for trailblaze. */
export interface ToolMeta {
  /** The keys of the drivers that the tool supports, such as `ios-host`. Default: all. */
  supportedDrivers?: readonly string[];
  /** The platforms that the tool supports. Default: all. */
  supportedPlatforms?: readonly ("ANDROID" | "IOS" | "WEB" | "android" | "ios" | "web")[];
  /** The tool needs files, network or processes, so it is not offered in on-device mode. Default: false. */
  requiresHost?: boolean;
  /**
   * true: the tool works only in a session, and other calls return an error. false: it also works outside of sessions, and the
   * type of `ctx` includes undefined.
   */
  requiresContext?: boolean;
  /** The tool is offered to agents. Default: true. */
  isForLlm?: boolean;
  /** Calls of the tool are written to recordings. Default: true. */
  isRecordable?: boolean;
  /** The tool delegates to other tools; see {@link delegate}. Default: false. */
  isDelegating?: boolean;
  /** The toolset that the tool belongs to. It is created if no file defines it. */
  toolset?: string;
  /** The time limit of calls in milliseconds, in place of the server's. */
  timeoutMs?: number;
}

/** The same metadata by full names, and any other keys. */
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
  /** The structured content, written like `inputSchema`. Results are not checked with it. */
  outputSchema?: InputSchema;
  annotations?: ToolAnnotations;
  meta?: M;
  _meta?: RawToolMeta;
}

/** The result of `tools/call` in MCP. */
export interface ToolResult {
  content: ({ type: string; text?: string } & { [key: string]: unknown })[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  _meta?: {
    trailblaze?: {
      variant?: "FatalError";
      /** The file and the line at which a handler threw, which this package adds. */
      thrownAt?: string;
      memoryDelta?: Record<string, string>;
      memoryDeletions?: string[];
    };
    [key: string]: unknown;
  };
  [key: string]: unknown;
}

/** The session's memory at the time the call was sent, with the changes of this call and of the tools that it called. */
export interface TrailblazeMemory {
  /** Returns a value: a text, or a result that `saveAs` of a trail stored. undefined if the name is not set. */
  get<T = any>(name: string): T | undefined;
  has(name: string): boolean;
  /** Sets a text. Numbers and booleans become text, objects and lists become JSON. Throws a TypeError for undefined and null. */
  set(name: string, value: string | number | boolean | object): this;
  /** Deletes a name. Returns whether it was set. */
  delete(name: string): boolean;
  keys(): IterableIterator<string>;
  entries(): IterableIterator<[string, any]>;
}

export interface TrailblazeDevice {
  platform: "android" | "ios" | "web" | (string & {});
  /** The size in pixels; 0 if unknown. */
  widthPixels: number;
  heightPixels: number;
  /** The key of the driver, such as `playwright-native`. */
  driverType: string;
  /** The platform's identifier of the device (a serial, a UDID), else its name. Absent if the run has one device without a name. */
  deviceId?: string;
  /** The name of the device in the project file or after --device. Absent if it has none. */
  deviceName?: string;
}

export interface TrailblazeTarget {
  id: string;
  displayName?: string;
  appIds: string[];
  appId?: string;
  /** The address of the app on the web: `baseUrl` in the project's files. Absent if there is none. */
  baseUrl?: string;
}

/** The context of a call: its session, device, target and memory. */
export interface TrailblazeContext {
  sessionId: string;
  /** Whoever has this id can make callbacks for this call, so do not print it. */
  invocationId: string;
  /** The address of the callback server of trailblaze, not of the app. undefined if callbacks are not possible. */
  baseUrl: string | undefined;
  device: TrailblazeDevice;
  target: TrailblazeTarget | undefined;
  /** Changes are sent to the session with the next `callTool`, or with the result of the call if it succeeds. */
  memory: TrailblazeMemory;
  /** Aborted when the call exceeds its time limit or its session ends. */
  signal: AbortSignal;
  /** Sends a progress message, which restarts the time limit of the call. */
  progress(message: string): void;
}

/** The result of a tool. `Result` is the type of its structured content, unknown if the tool does not declare it. */
export interface ToolReply<Result = unknown> {
  /** The first text of the result, `""` without one. */
  text: string;
  /** The structured content of the result, undefined without one. */
  structured: (unknown extends Result ? Record<string, unknown> : Result) | undefined;
  /** Returns the structured content, else the text parsed as JSON. Throws an Error if the text is not JSON. */
  json<T = unknown extends Result ? any : Result>(): T;
}

/**
 * The tools of the project by name, each with the types of its arguments and its result. `trailblaze types` writes a file that
 * adds them. Without that file, tools have any name and any arguments.
 */
export interface Tools {}

/** The name of a tool. */
export type ToolName = [keyof Tools] extends [never] ? string : keyof Tools & string;

/** The arguments of a tool. */
export type ToolArgs<Name extends ToolName> = Tools extends { [N in Name]: { args: infer A extends object } } ? A : object;

/** The structured content of a tool's results. */
export type ToolContent<Name extends ToolName> = Tools extends { [N in Name]: { result: infer R } } ? R : unknown;

/** The parameters of a call: the arguments, which may be left out if the tool requires none. */
export type ToolParameters<Name extends ToolName> = {} extends ToolArgs<Name> ? [args?: ToolArgs<Name>] : [args: ToolArgs<Name>];

/** A function for each tool. It is an interface so that errors of the compiler have its name instead of all tools. */
export interface ToolFunctions extends FunctionByName {}

type FunctionByName = [keyof Tools] extends [never]
  ? { readonly [name: string]: (args?: object) => Promise<ToolReply> }
  : { readonly [Name in keyof Tools]: ToolFunction<Name> };

type ToolFunction<Name> = Name extends ToolName
  ? (...parameters: ToolParameters<Name>) => Promise<ToolReply<ToolContent<Name>>>
  : never;

/** Calls other tools of the session. */
export class TrailblazeClient {
  private constructor();

  /**
   * The tools of the session as functions: `client.tools.tap({ text: "OK" })` is `client.callTool("tap", { text: "OK" })`. Every
   * name has a function, also that of a tool that does not exist, whose call then fails. A tool named `then` needs callTool.
   */
  readonly tools: ToolFunctions;

  /**
   * Returns the client of a call, in a server on the MCP SDK.
   * @param extra what version 1 or 2 of the SDK passes to a tool's callback besides the arguments
   */
  static fromContext(extra: unknown): TrailblazeClient;

  /**
   * Calls a tool and waits for its result. `{{name}}` in arguments is not replaced.
   * @throws {TrailblazeToolError} The tool failed.
   * @throws {TrailblazeCallbackError} The call did not reach the tool, or its response was not received. Always thrown outside a
   * session.
   */
  callTool<Name extends ToolName>(tool: Name, ...parameters: ToolParameters<Name>): Promise<ToolReply<ToolContent<Name>>>;
}

/** The tool was called and failed. */
export class TrailblazeToolError extends Error {
  constructor(tool: string, reason: string);
  readonly tool: string;
  /** The error text of the tool. The message of the error also names the tool. */
  readonly reason: string;
}

/** The call did not reach the tool, or its response was not received. The tool may have run. */
export class TrailblazeCallbackError extends Error {
  constructor(tool: string, reason: string, cause?: unknown);
  readonly tool: string;
  /** The reason. The message of the error also names the tool. */
  readonly reason: string;
}

/** `_meta.trailblaze` of a `tools/call` that a session sends. */
export interface CallMeta {
  sessionId: string;
  invocationId: string;
  /** Absent if callbacks are not possible. */
  baseUrl?: string;
  device: TrailblazeDevice;
  target?: TrailblazeTarget;
  memory?: { [name: string]: unknown };
}

/** The body of `POST /scripting/callback`, with which a tool calls another one. */
export interface CallbackRequest {
  version: 1;
  session_id: string;
  invocation_id: string;
  action: {
    type: "call_tool";
    tool_name: string;
    /** The text of a JSON object. */
    arguments_json: string;
    memory_delta?: { [name: string]: string } | undefined;
    memory_deletions?: string[] | undefined;
  };
}

/** The body of its response. `error` means that no tool was called. */
export interface CallbackResponse {
  result: CallbackResult | { type: "error"; message: string };
}

/** The result of a tool that was called. */
export interface CallbackResult {
  type: "call_tool_result";
  success: boolean;
  text_content?: string;
  error_message?: string;
  structured_content?: Record<string, unknown> | null;
  memory_delta?: { [name: string]: unknown } | null;
  memory_deletions?: string[] | null;
}

export interface ServerInfo {
  /** Default: the name of the script. */
  name?: string;
  version?: string;
}

/** The type of `ctx`. It is undefined outside a session, and the type of tools with `requiresContext: false` includes that. */
type ContextFor<M> = M extends { requiresContext: false } ? TrailblazeContext | undefined : TrailblazeContext;

export interface Trailblaze {
  /**
   * Registers a tool. What its handler returns becomes the result: a text unchanged, an object as JSON and as structured
   * content, and a result of MCP, {@link success}, {@link error}, {@link fatalError} or {@link delegate} unchanged. What it
   * throws becomes an error result. Throws an Error if the name is in use, and a TypeError for a wrong schema or `meta`.
   *
   * Outside a session `ctx` is undefined, and `client.callTool` throws.
   */
  tool<const S extends InputSchema = {}, const M extends ToolMeta = ToolMeta>(
    name: string,
    definition: ToolDefinition<S, M>,
    handler: (args: Args<S>, ctx: ContextFor<M>, client: TrailblazeClient) => unknown,
  ): void;

  /**
   * Serves the tools on stdin and stdout, and exits at the end of stdin. Resolves when it has started. If the main program is a
   * test (`*.test.ts`, `*.spec.ts` and the like), it serves nothing and logs that to stderr, so that tests can import a file
   * that calls it.
   *
   * If the program was started with `--transport http --port N`, as trailblaze does for an entry with `multiDevice: http`, it
   * serves the tools at `http://127.0.0.1:N/mcp` for several clients.
   */
  run(info?: ServerInfo): Promise<void>;
}

export const trailblaze: Trailblaze;

/** Returns a successful result: a text, or another value as JSON. An object is also the structured content. */
export function success(value?: unknown): ToolResult;

/** Returns an error result. The trail fails with this message. */
export function error(message: string): ToolResult;

/** Returns an error result after which the session cannot continue. The trail ends as an error, not as failed. */
export function fatalError(message: string): ToolResult;

export interface Delegate {
  tool: string;
  args?: object;
}

/** Returns a result that delegates: trailblaze makes these calls, in order, in place of this one. The last one has the result. */
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
  /** The progress messages of the tool, in order. */
  messages: string[];
}

/** Returns a context for unit tests. */
export function createMockContext(options?: MockContextOptions): MockContext;

export interface MockClientOptions {
  /** The result of each tool, in any form that a handler may return, or a function that gets the arguments and returns it. */
  tools?: Record<string, MockTool>;
}

type MockTool = ((args: any) => unknown) | object | string | number | boolean | null | undefined;

export interface MockClient extends TrailblazeClient {
  /** The calls, in order. */
  calls: { tool: string; args: Record<string, any> }[];
}

/** Returns a client for unit tests, with its own tools. */
export function createMockClient(options?: MockClientOptions): MockClient;
