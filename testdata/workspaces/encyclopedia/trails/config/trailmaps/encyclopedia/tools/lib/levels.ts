export interface Found {
  text: string;
  bounds: { left: number; top: number; right: number; bottom: number };
}

export const level = (text: string): 1 | 2 => (/^[A-Z][a-z]+ of /.test(text) ? 2 : 1);
