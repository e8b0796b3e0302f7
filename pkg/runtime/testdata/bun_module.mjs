import { Database } from "bun:sqlite";
console.log(Database);
