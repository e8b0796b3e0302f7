// Every form of type that is read. Each exported one has the schema that ts-json-schema-generator makes of it.
import type { Other, Renamed as Local } from "./other";
import { type Deep } from "./other";
import * as others from "./other";

export interface Empty {}
export interface Text { a: string }
export interface Number { a: number }
export interface Boolean { a: boolean }
export interface Unknown { a: unknown; b: any }
export interface Null { a: null }
export interface ObjectKeyword { a: object }
export interface Optional { a?: string; b?: number; c: boolean }
export interface ReadOnly { readonly a: string; readonly b?: string[] }
export interface Commas { a: string, b: number, }
export interface Lines {
  a: string
  b?: number
  readonly: boolean
  readonly type: string
}
export interface Quoted { "a-b": string; 'c d'?: number }
export interface Keywords { type: string; interface: number; export?: boolean; default: string; get: string; set?: string }

export interface Arrays { a: string[]; b: number[][]; c?: boolean[] }
export interface ArrayOf { a: Array<string>; b: ReadonlyArray<number>; c: Array<Array<boolean>> }
export interface ReadonlyArrays { a: readonly string[]; b?: readonly number[] }
export interface ArrayOfUnion { a: (string | number)[]; b: Array<"x" | "y"> }
export interface ArrayOfObjects { a: { x: number; y?: string }[] }
export interface Tuples { a: [string, number]; b: [number, number]; c: [] }

export interface Records { a: Record<string, string>; b: Record<string, number[]>; c: Record<string, unknown>; d: Record<string, any> }
export interface RecordOfKeys { a: Record<"x" | "y", number> }
export interface Index { [key: string]: string }
export interface IndexAndProperty { a: string; [key: string]: string }
export interface RecordOfRecord { a: Record<string, Record<string, boolean>> }
export type RecordRoot = Record<string, number>;

export interface Literal { a: "x"; b: 1; c: true; d: -1; e: false; f: 1.5; g: 0x10; h: 1_000 }
export interface Choice { a: "x" | "y"; b?: 'one' | 'two' | 'three'; c: 1 | 2 | 3 }
export interface ChoiceOfKinds { a: "x" | 1 | true; b: "x" | null; c: "x" | "y" | null }
export interface LeadingBar {
  a:
    | "x"
    | "y";
}
export interface Escapes { a: "it's" | 'say "x"' | "tab\t" | "\u00e9" | "a\\b"; b: "x\u{1F600}" }
export interface Unions { a: string | number; b: string | null; c?: string | number | null; d: boolean | string }
export interface UnionWithUndefined { a: string | undefined; b: number | null | undefined; c?: undefined | "x" }
export interface UnionOfLiteralAndType { a: "x" | string; b: "x" | number; c: "x" | "y" | number; d: true | string }
export interface UnionOfArrays { a: string | string[]; b: string[] | number[] }
export interface UnionOfObjects { a: { x: string } | { y: number } }
export interface UnionOfSame { a: string | string; b: "x" | "x" }
export interface BothBooleans { a: true | false; b: true | false | null }
export interface ParenthesizedUnion { a: ("x" | "y") | "z"; b: (string) }
export interface UnionOfUnions { a: (string | null) | (number | undefined) }
export interface UnionWithUnknown { a: string | unknown; b: string | any }

export interface Nested { a: { b: { c: string } } }
export interface NestedOptional { a?: { b?: string; c: number } }
export interface EmptyObject { a: {} }

/** A reference. */
export interface Address {
  /** Street and number. */
  street: string;
  city?: string;
}
interface Inner { x: number }
export interface Reference { a: Address; b?: Address }
export interface ReferenceWithComment {
  /** Where to. */
  a: Address;
}
export interface ReferenceInside { a: Inner; b: Inner[] }
export interface ReferenceInArray { a: Address[]; b: Record<string, Address> }
export interface ReferenceInUnion { a: Address | string; b: Address | null; c: Address | Inner }
export type Alias = { a: string; b?: number };
export type AliasOfInterface = Address;
export type AliasOfAlias = Alias;
export type Size = "small" | "large";
type Colour = "red" | "green";
/** A piece of text. */
type Word = string;
export interface Aliases { a: Size; b: Colour; c: Word; d?: Size; e: Size[]; f: Colour | "blue"; g: Size | "huge" }
export interface AliasesInUnion { a: Size | null; b: Colour | null; c: Word | number }
export interface Tree { name: string; children?: Tree[] }
export interface Forest { trees: Tree[]; first?: Tree }
export type List = { value: string; next: List | null };
export interface Ping { pong?: Pong }
export interface Pong { ping?: Ping }

interface Base { a: string; b?: number }
export interface PublicBase { p: string }
export interface Extends extends Base { c: boolean }
export interface ExtendsPublic extends PublicBase { c: boolean }
export interface ExtendsTwo extends Base, PublicBase { c?: boolean }
export interface ExtendsOverriding extends Base { a: "x" | "y" }
export interface ExtendsEmpty extends Base {}
interface Middle extends Base { m: string }
export interface ExtendsDeep extends Middle { c: string }
export interface ExtendsAlias extends Alias { c: string }
export interface ExtendsPartial extends Partial<Base> { c: string }
export type Intersection = Base & { c: boolean };
export type IntersectionOfThree = Base & PublicBase & { d?: string };
export type IntersectionOfAliases = Alias & { c: string };
export interface IntersectionInside { a: Base & { c: boolean } }
export type IntersectionSame = { a: string } & { a: string; b: number };

export type PartialOf = Partial<Base>;
export interface PartialInside { a: Partial<Address>; b: Partial<{ x: number; y: string }> }
export type RequiredOf = Required<Base>;
export type ReadonlyOf = Readonly<Base>;
export type PickOf = Pick<Base, "a">;
export type OmitOf = Omit<Base, "a">;
export type OmitTwo = Omit<Base & { c: string; d: string }, "a" | "c">;
export type PartialAnd = Partial<Base> & { c: string };

export interface Comments {
  /** One line. */
  a: string;
  /**
   * Several
   * lines.
   *
   * And a paragraph.
   * - an item
   * - another one
   */
  b: string;
  // Not a description.
  c: string;
  /* Not one, too. */
  d: string;
  /** The first. */
  /** The second. */
  e: string; /** After it. */
  f: string;
  g: string; // after
  /** With `code` and a {@link Address} in it. */
  h: string;
}
export interface OneLineComments { /** Pieces. */ count: number; /** Kind. */ kind?: "small" | "large"; notes?: string[] }
/** The whole. */
export interface CommentOfType { a: string }
/**
 * An alias.
 */
export type CommentOfAlias = {
  a: Word;
  /** Its own. */
  b: Word;
};
export interface Tags {
  /** @default 3 */
  a?: number;
  /**
   * Text first.
   * @default "x"
   * @minLength 1
   * @maxLength 10
   */
  b?: string;
  /** @minimum 0 @maximum 9 */
  c: number;
  /**
   * @minimum 0
   * @maximum 9
   */
  d: number;
  /** @format uri */
  e: string;
  /** @pattern ^[a-z]+$ */
  f: string;
  /** @default true */
  g?: boolean;
  /** @default ["a", 'b'] */
  h?: string[];
  /** @default {x: 1} */
  i?: Record<string, number>;
  /** @title A title */
  j: string;
  /** @deprecated */
  k?: string;
  /** @deprecated use j */
  l?: string;
  /** @example "a" */
  m: string;
  /** @examples ["a", "b"] */
  n: string;
  /** Text. @default plain text */
  o?: string;
  /** @minItems 1 @unknown x */
  p: string[];
  /** @minItems 1 */
  q: string[];
  /** @default null */
  r?: string | null;
  /** @description From a tag. */
  s: string;
  /** @default small */
  t?: Size;
}
/**
 * With a tag.
 * @title Titled
 */
export interface TagsOfType { a: string }

export interface Imported { a: Other; b: Local; c?: Deep }
export interface ImportedNamespace { a: others.Other }
export interface ExtendsImported extends Other { c: string }
export type { Other as ReExported };
export enum Enum { A = "a", B = "b" }
export enum Counted { A, B, C = 5, D }
export interface Enums { a: Enum; b: Counted }
enum Hidden { X = "x" }
export interface HiddenEnum { a: Hidden; b?: Hidden }
export interface Undefined { a: undefined; b?: undefined }
export interface Never { a?: never; b: string }
type Short = string;
type X = "x";
type Maybe = string | undefined;
export type PublicMaybe = number | undefined;
export interface AliasesOfPlain { a: Short | number; b: X | "y"; d: Maybe; e: PublicMaybe; g: Colour | string }
export interface AliasesInOtherForm { a: Short | null; b: Colour | number }
export interface NullFirst { a: null | string; b: null | "x"; c: 1 | string | "x"; d: boolean | "x" }
/** Described. */
type Described = "p" | "q";
export interface DescribedAliases { a: Described; b: Described | null; c?: Described[] }
interface Documented {
  /** The a. */
  a: string;
  /**
   * The b.
   * @default 1
   */
  b?: number;
}
export type PartialKeepsComments = Partial<Documented>;
export type PickKeepsComments = Pick<Documented, "b">;
export interface ExtendsKeepsComments extends Documented {
  /** The c. */
  c: string;
}
export interface Indented {
  /**
   * Lines:
   *   indented
   *
   *     code
   * * starred
   *
   * Mail a@b.c and `@default 3` there.
   * @title Two
   * lines
   */
  a: string;
}
export interface TypeOfHandler { a: string[] | null; b?: Array<{ x: string } | string>; c: Record<Size, boolean>; d: (Size | null)[] }
interface Loop { next?: Loop; x: string }
export interface KeepsOrder { z: string; a: number; m?: boolean }
export interface Long {
  a: { x: string, y: { z: number }[] } | undefined,
  readonly b: ReadonlyArray<Readonly<{ c: string }>>
  "c"?: Partial<Record<"x" | "y", string>>
}
