/** console.table. @module */

const { inspect } = require("node:util");

const formatCell = (value) => inspect(value, { maxArrayLength: 3, breakLength: Infinity, depth: typeof value === "object" && value !== null ? -1 : 0 });

/** Returns the name of the index column, and rows as [index, value]. */
function rowsOf(data) {
  if (data instanceof Map) return ["(iteration index)", [...data].map(([key, value], i) => [i, { Key: key, Values: value }])];
  if (data instanceof Set) return ["(iteration index)", [...data].map((value, i) => [i, value])];
  return ["(index)", Object.keys(data).map((key) => [key, data[key]])];
}

function columnsOf(rows, wanted) {
  const columns = new Set(wanted ?? []);
  let values = false;
  for (const [, row] of rows) {
    if (typeof row !== "object" || row === null) values = true;
    else if (!wanted) Object.keys(row).forEach((name) => columns.add(name));
  }
  return { columns: [...columns], values };
}

function cells(rows, columns, values) {
  return rows.map(([index, row]) => {
    const isObject = typeof row === "object" && row !== null;
    const line = columns.map((name) => (isObject && Object.hasOwn(row, name) ? formatCell(row[name]) : ""));
    return [String(index), ...line, ...(values ? [isObject ? "" : formatCell(row)] : [])];
  });
}

/**
 * @param {object} data
 * @param {string[]} [wanted] the columns to show
 */
export function table(data, wanted) {
  const [index, rows] = rowsOf(data);
  const { columns, values } = columnsOf(rows, wanted);
  const lines = [[index, ...columns, ...(values ? ["Values"] : [])], ...cells(rows, columns, values)];
  const widths = lines[0].map((_, i) => Math.max(...lines.map((line) => line[i].length)) + 2);
  const rule = (left, middle, right) => left + widths.map((width) => "─".repeat(width)).join(middle) + right;
  const row = (line) => `│${line.map((cell, i) => ` ${cell}`.padEnd(widths[i])).join("│")}│`;
  return [rule("┌", "┬", "┐"), row(lines[0]), rule("├", "┼", "┤"), ...lines.slice(1).map(row), rule("└", "┴", "┘")].join("\n");
}
