export const CAKES = ["css=#a", "css=#b"];
