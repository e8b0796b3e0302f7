/** node:constants. @module */
import fs from "node:fs";
import os from "node:os";

const { dlopen, errno, priority, signals } = os.constants;

export default { ...dlopen, ...errno, ...priority, ...signals, ...fs.constants };
