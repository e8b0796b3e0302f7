import { thing } from "@acme/not-there/sub";
console.error(thing);
