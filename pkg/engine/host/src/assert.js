/** node:assert: the package, and functions that node has added since. @module */
import assert from "@frida/assert";
import { unavailableFunctions, ERR_INVALID_ARG_TYPE, validateFunction } from "internal/errors";
import { inspect } from "node:util";

const fail = (facts, message) => {
  if (facts.own instanceof Error) throw facts.own;
  const error = new assert.AssertionError({ ...facts, message: facts.own ?? message });
  error.generatedMessage = facts.own === undefined;
  throw error;
};

function match(string, regexp, message) {
  if (!(regexp instanceof RegExp)) throw new ERR_INVALID_ARG_TYPE("regexp", "RegExp", regexp);
  const facts = { actual: string, expected: regexp, operator: "match", own: message };
  if (typeof string !== "string") {
    fail(facts, `The "string" argument must be of type string. Received type ${typeof string} (${inspect(string)})`);
  }
  if (!regexp.test(string)) fail(facts, `The input did not match the regular expression ${inspect(regexp)}. Input:\n\n${inspect(string)}\n`);
}

function doesNotMatch(string, regexp, message) {
  if (!(regexp instanceof RegExp)) throw new ERR_INVALID_ARG_TYPE("regexp", "RegExp", regexp);
  const facts = { actual: string, expected: regexp, operator: "doesNotMatch", own: message };
  if (regexp.test(string)) {
    fail(facts, `The input was expected to not match the regular expression ${inspect(regexp)}. Input:\n\n${inspect(string)}\n`);
  }
}

/** Validates an error against a regular expression; the package would rethrow an error that does not match. */
function expected(error, regexp, operator, message) {
  if (regexp.test(String(error))) return;
  fail({ actual: error, expected: regexp, operator, own: message },
    `The input did not match the regular expression ${inspect(regexp)}. Input:\n\n${inspect(String(error))}\n`);
}

const { throws, rejects } = assert;

function throwsAsNode(fn, error, message) {
  validateFunction(fn, "fn");
  if (!(error instanceof RegExp)) return throws.apply(assert, arguments);
  return throws(fn, (thrown) => {
    expected(thrown, error, "throws", message);
    return true;
  }, message);
}

function rejectsAsNode(promise, error, message) {
  if (!(error instanceof RegExp)) return rejects.apply(assert, arguments);
  return rejects(promise, (thrown) => {
    expected(thrown, error, "rejects", message);
    return true;
  }, message);
}

for (const target of [assert, assert.strict]) {
  Object.assign(target, { match, doesNotMatch, throws: throwsAsNode, rejects: rejectsAsNode, ...unavailableFunctions("assert", "CallTracker") });
}

export default assert;
