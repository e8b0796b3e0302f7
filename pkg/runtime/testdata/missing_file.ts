import { thing } from "./nowhere";
console.error(thing);
