/** node:path. @module */
import { posix, win32 } from "@frida/path";
import process from "node:process";
import { validateObject, validateString } from "internal/errors";

/** Validates arguments, which the package does not. */
const parameters = {
  basename: ["path"], dirname: ["path"], extname: ["path"], isAbsolute: ["path"], normalize: ["path"], parse: ["path"], relative: ["from", "to"],
};

for (const path of [posix, win32]) {
  for (const [name, given] of Object.entries(parameters)) {
    const { [name]: original } = path;
    path[name] = (...args) => {
      given.forEach((parameter, i) => validateString(args[i], parameter));
      if (name === "basename" && args[1] !== undefined) validateString(args[1], "suffix");
      return original.apply(path, args);
    };
  }
  const { format, join, resolve } = path;
  path.format = (parts) => {
    validateObject(parts, "pathObject");
    return format.call(path, parts);
  };
  path.join = (...parts) => {
    for (const part of parts) validateString(part, "path");
    return join.apply(path, parts);
  };
  path.resolve = (...parts) => {
    parts.forEach((part, i) => validateString(part, `paths[${i}]`));
    return resolve.apply(path, parts);
  };
}

export default process.platform === "win32" ? win32 : posix;
