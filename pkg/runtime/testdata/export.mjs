import { nothingOfTheKind } from "node:fs";
console.log(nothingOfTheKind);
