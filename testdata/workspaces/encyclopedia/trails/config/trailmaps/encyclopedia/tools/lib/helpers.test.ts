import { heading } from "./helpers";

if (heading("History of tea") !== "css=h2") throw new Error("the level is wrong");
