import { trailblaze, type EmptyInput } from "@trailblaze/scripting";
import * as scripting from "@trailblaze/scripting/in-process";
import { trailblaze as t } from "@trailblaze/scripting";
import type { Elsewhere } from "some-package";
import type { Missing } from "./missing";
import tsx, { other } from "./problems_other.js";

export interface Forms {
  fine: string;
  fn: (a: string) => void;
  method(a: string): Promise<void>;
  cond: string extends infer U ? U : never;
  key: keyof Forms;
  typeOf: typeof tsx;
  at: Forms["fine"];
  mapped: { [K in "a" | "b"]: string };
  template: `x-${string}`;
  big: bigint;
  generic: Map<string, number>;
  own: Box<string>;
  elsewhere: Elsewhere;
  missing: Missing;
  unknownName?: Nothing;
  ctor: new () => Date;
  named: [a: string, b?: number];
  list: Array<() => void>;
  union: string | (() => void);
  both: string & { brand: true };
  untyped;
  /** @nullable */
  tagged: string;
  import: import("./x").Y;
  set?: string;
  last: boolean;
}
interface Box<T> { value: T }
interface WithAccessor {
  get a(): string
  b: string
}
interface Callable { (): void; a: string }
interface ExtendsUnknown extends Elsewhere { a: string }
interface Twice { a: string }
interface Twice { b: string }
interface Self extends Self { a: string }
type Circle = Circle | null;
type Word = string;

/** Does it. @internal */
export const forms = trailblaze.tool<Forms>({ description: "Says it." }, async (input, ctx) => `${input.fine} ${"`"}`);
export const box = trailblaze.tool<Box<string>>(run);
export const with_accessor = trailblaze.tool<WithAccessor, string>(run);
export const callable = trailblaze.tool<Callable>(run);
export const extends_unknown = trailblaze.tool<ExtendsUnknown>(run);
export const twice = trailblaze.tool<Twice>(run);
export const self = trailblaze.tool<Self>(run);
export const circle = trailblaze.tool<Circle>(run);
export const circles = trailblaze.tool<Circles>(run);
interface Circles { a: Circle; b?: A; c: A | string }
export type A = B;
export type B = A;
export const word = trailblaze.tool<Word>(run);
export const inline = trailblaze.tool<{ a: string }>(run);
export const elsewhere = trailblaze.tool<Elsewhere>(run);
/* Not a description. */
export const plain = trailblaze.tool(run);
export const empty = trailblaze.tool<EmptyInput>({}, run);
export const variable = trailblaze.tool<Forms2>(spec, run);
interface Forms2 { a: string }
export const named = scripting.trailblaze.tool<Forms2>({
  supportedPlatforms: ["web", 'android'], requiresHost: true, surfaceToLlm: false, trailhead: { to: "shop" },
  description: "one" + "two", isRecordable: recordable, ...others, method() {}, shorthand, "quoted": -1.5,
}, function (input) { return /[/"]/.test("x") ? 1 / 2 : 3; });
export const aliased: Tool = t.tool(async (input) => { /* } */ });
export const notATool = other.tool(run);
export async function plainFunction(args, ctx, client) { return "}"; }
export function* generator() {}
const hidden = trailblaze.tool(run);
if (true) { }
export { hidden };
export default hidden;
