const thing = require("not-there");
console.error(thing);
