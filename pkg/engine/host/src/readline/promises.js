/** node:readline/promises. @module */
import { promisify } from "node:util";
import readline from "node:readline";

class Interface extends readline.Interface {
  question(query, options) {
    return promisify(super.question).call(this, query, options);
  }
}

export default { Interface, createInterface: (...args) => new Interface(...args) };
