export interface Deepest { y: number }
export type Deep = Deepest[];
