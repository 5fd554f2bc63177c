// What the page shows of answers: tables, the sentences that say most, and what figures are drawn from.
import { textOf } from "./units.js";

export function cell(text, name = "td") {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}

/** Fills a table with rows of texts, of which the first are headings. */
export function fillTable(table, rows) {
  table.replaceChildren(
    ...rows.map((row, i) => {
      const line = document.createElement("tr");
      line.append(...row.map((text, j) => cell(text, text !== "" && (i === 0 || j === 0) ? "th" : "td")));
      return line;
    }),
  );
}

/** The answers that have points. */
export const good = (answers) => answers.filter((each) => each.points?.length > 0);

/** The keys of all answers with what is said of them: `name`, `unit`, and `isPart` of the one before. */
export function keysOf(answers) {
  const keys = new Map();
  for (const each of good(answers)) {
    for (const [key, { name, unit }] of Object.entries(each.keys)) {
      if (!keys.has(key)) {
        keys.set(key, {
          name: name.trim(),
          unit: unit === "text" ? "" : unit,
          isText: unit === "text",
          isPart: name.startsWith(" "),
        });
      }
    }
  }
  return keys;
}

const words = (name) => name.replaceAll("_", " ");

/** What twice of a resource is: of latency half is what helps. */
const twice = (resource) => (resource === "latency" ? "half the latency" : `twice the ${words(resource)}`);

/** A line for each answer: what comes out, and what bounds it. */
export function verdicts(answers, headline) {
  return good(answers).map((each) => {
    const [point] = each.points;
    const said = headline
      .filter((key) => Number.isFinite(point[key]))
      .map((key) => `${each.keys[key].name.trim()}: ${textOf(point[key], each.keys[key].unit)}`);
    const bound = point.bound_by;
    const gain =
      bound === undefined
        ? ""
        : ` Bound by ${words(bound)}: ${twice(bound)} would make it ${point.gain_of_twice[bound].toFixed(2)} times faster.`;
    return { machine: each.machine, text: `${said.join(" · ")}.${gain}` };
  });
}

/** Bars of all times, for `drawBars`, and their rows for CSV. */
export function timeBars(answers) {
  const shown = good(answers);
  const rows = [];
  for (const [key, about] of keysOf(answers)) {
    if (about.unit === "s" && shown.some((each) => each.points[0][key] > 0)) {
      const values = shown.map((each, machine) => ({
        value: each.points[0][key],
        text: textOf(each.points[0][key], "s"),
        colour: machine,
        machine: 0,
      }));
      rows.push({ name: about.name, isPart: about.isPart, values });
    }
  }
  return rows;
}

/** Bars of what twice of each resource gains. */
export function gainBars(answers) {
  const shown = good(answers).filter((each) => each.points[0].gain_of_twice !== undefined);
  const resources = [...new Set(shown.flatMap((each) => Object.keys(each.points[0].gain_of_twice)))];
  return resources.map((resource) => ({
    name: twice(resource),
    isPart: false,
    values: shown.map((each, machine) => {
      const value = each.points[0].gain_of_twice[resource] ?? 1;
      return { value, text: `${value.toFixed(2)} times`, colour: machine, machine: 0 };
    }),
  }));
}

/** Rows of bars as rows for CSV. */
export const barTable = (rows, names) => [
  ["", ...names],
  ...rows.map((row) => [row.name, ...row.values.map((each) => each.value)]),
];

/** The bars of Figure 5: the times of memory and network of each machine that replaces the GPU-like one. */
export function laneBars(answers) {
  return answers.flatMap((each) =>
    each.other.lanes.map((lane) => ({
      name: `${lane.name}: ${textOf(Math.round(lane.nodes), "")} nodes, ${textOf(lane.peak_flops, "Flop/s")}`,
      isPart: false,
      values: [
        { value: lane.memory_s, text: `memory ${textOf(lane.memory_s, "s")}`, colour: 0, machine: 0 },
        { value: lane.network_s, text: `network ${textOf(lane.network_s, "s")}`, colour: 1, machine: 0 },
      ],
    })),
  );
}

/** All numbers of the first points, a column for each machine, as texts, or as they are for CSV. */
export function numberTable(answers, isExact) {
  const shown = good(answers);
  const rows = [["", ...shown.map((each) => each.machine ?? "value")]];
  for (const [key, about] of keysOf(answers)) {
    const values = shown.map((each) => each.points[0][key]);
    if (values.every((value) => value === "")) {
      continue;
    }
    const name = isExact ? key : `${about.isPart ? "\u2003" : ""}${about.name}`;
    rows.push([name, ...values.map((value) => (isExact ? value : textOf(value, about.unit)))]);
  }
  return rows;
}

/** Of the estimates of a fit: name, value, and the limits of its 95% interval. */
export function fitTable(fit, isExact) {
  const text = (value) => (isExact ? value : textOf(value, ""));
  const rows = [["", "value", "95% from", "to"]];
  for (const [name, estimate] of Object.entries(fit)) {
    if (estimate?.value !== undefined) {
      rows.push([words(name), text(estimate.value), text(estimate.low), text(estimate.high)]);
    }
  }
  rows.push(["relative error", text(fit.relative_error), "", ""]);
  return rows;
}
