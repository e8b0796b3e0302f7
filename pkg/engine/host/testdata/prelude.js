// What the scripts here share: show prints what a function gives, or throws, as a line of JSON.
const shown = (key, value) => {
  if (value === undefined) return "<undefined>";
  if (typeof value === "bigint") return `<${value}n>`;
  if (typeof value === "symbol") return `<${String(value)}>`;
  if (typeof value === "function") return `<function ${value.name}>`;
  if (typeof value === "number" && (!Number.isFinite(value) || Object.is(value, -0))) return `<${Object.is(value, -0) ? "-0" : value}>`;
  return value;
};
const show = async (label, fn) => {
  let result;
  try {
    result = await fn();
  } catch (error) {
    result = { threw: error?.name, code: error?.code, message: error?.message ?? String(error) };
  }
  console.log(`${label}: ${JSON.stringify(result, shown)}`);
};
