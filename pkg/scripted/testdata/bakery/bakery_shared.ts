export const CAKES = ["#lemon", "#plum", "#cheese"] as const;
