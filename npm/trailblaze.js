#!/usr/bin/env node
// Runs the trailblaze binary, which is in the package for this platform, with the same arguments and streams.
"use strict";
const { spawn } = require("node:child_process");
const { closeSync, openSync } = require("node:fs");
const { constants } = require("node:os");

const platform = `${process.platform}-${process.arch}`;
const packages = Object.keys(require("./package.json").optionalDependencies ?? {});
const wanted = `@trailblaze/cli-${platform}`;

function fail(message, hint) {
  console.error(`trailblaze: error: ${message}\ntrailblaze: hint: ${hint}`);
  process.exit(2);
}

function findBinary() {
  if (!packages.includes(wanted)) {
    const platforms = packages.map((name) => name.replace("@trailblaze/cli-", "")).join(", ");
    fail(
      `trailblaze has no binary for ${platform}, only for ${platforms}`,
      "build it from its sources: go install github.com/trailblaze/trailblaze@latest",
    );
  }
  try {
    return require.resolve(`${wanted}/bin/trailblaze${process.platform === "win32" ? ".exe" : ""}`);
  } catch {
    fail(
      `the package ${wanted}, which has the binary for this platform, is not installed`,
      "install trailblaze again on this platform, without --omit=optional and --no-optional; " +
        "a node_modules folder cannot be copied from another platform",
    );
  }
}

/** Reports whether there is a terminal, which sends its signals to the binary too. */
function hasTerminal() {
  try {
    closeSync(openSync("/dev/tty"));
    return true;
  } catch {
    return false;
  }
}

// npm and its like put trailblaze on the PATH only for the command that they run. Messages then say how to run the next.
const env = process.env.npm_config_user_agent ? { ...process.env, TRAILBLAZE_PROGRAM: "npx trailblaze" } : process.env;
const child = spawn(findBinary(), process.argv.slice(2), { stdio: "inherit", env });
child.on("error", (error) => fail(`the binary could not be started: ${error.message}`, `install ${wanted} again`));
// A second signal would stop the binary without cleaning up.
const fromTerminal = process.platform === "win32" || hasTerminal() ? ["SIGINT", "SIGHUP"] : [];
for (const signal of ["SIGINT", "SIGHUP", "SIGTERM"]) {
  process.on(signal, () => fromTerminal.includes(signal) || child.kill(signal));
}
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
