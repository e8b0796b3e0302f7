import type { Deepest } from "./deep/index";

/** Of another file. */
export interface Other { x: string; deep?: Deepest }
type Local = "p" | "q";
export type { Local as Renamed };
export * from "./deep";
