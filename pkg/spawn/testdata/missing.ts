import { thing } from "@acme/not-there";
console.error(thing);
