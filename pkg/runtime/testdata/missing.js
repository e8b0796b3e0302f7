import thing from "not-there";
console.error(thing);
