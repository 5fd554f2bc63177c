// The report of several runs beside each other.
import { stackedBars } from "./stacked_bars.js";
import { chartsOf, givenCurves } from "./chart_figures.js";
import { make } from "./elements.js";
import { nameOf, quantityText } from "./quantities.js";
import { schemas } from "./schemas.js";
import { percent, section } from "./sections.js";
import { listsOf, makeTable, sideBySide } from "./tables.js";
import { textOf } from "./units.js";

function scalingSection(scaling, law) {
  if (scaling === null) {
    return undefined;
  }
  const x = scaling.points.map((point) => point.workers);
  const series = [
    { name: "measured", x, y: scaling.points.map((point) => point.speedup) },
    { name: "ideal", x, y: x },
    ...(law === null ? [] : [{ name: "Amdahl's law, fitted", ...law }]),
  ];
  const rows = scaling.points.map((point) => [
    String(point.workers),
    textOf(point.time_s, "s"),
    point.speedup.toFixed(2),
    percent(point.efficiency),
  ]);
  const { value, low, high } = scaling.serial ?? {};
  const words =
    scaling.serial === null
      ? "Speed-up is that over the run of fewest workers, times their number."
      : `Amdahl's law fits with a serial part of ${textOf(value, "")}, 95 %: ${textOf(low, "")} to ${textOf(high, "")}.`;
  const curves = {
    title: "Speed-up",
    y_name: "workers are ranks times threads",
    x_name: "workers",
    x: series.flatMap((each) => each.x),
    series,
  };
  return section("Scaling", words, givenCurves(curves), makeTable(["workers", "time", "speed-up", "efficiency"], rows));
}

/** What differs in what was asked, a row for each. */
function askedTable(asked, names) {
  const differing = asked.filter((each) => new Set(each.values.map((value) => JSON.stringify(value))).size > 1);
  const rows = differing.map((each) => [
    nameOf(each.key),
    ...each.values.map((value) => quantityText(each.key, value)),
  ]);
  return rows.length === 0 ? make("p", {}, "Nothing.") : makeTable(["", ...names], rows);
}

/** What was measured, by name; of rows of lists in tables that are opened. */
function measuredTables(measured, lists, names) {
  const cell = (each, value, i) => {
    const ratio = i === 0 || each.ratios[i] === null ? "" : ` (${each.ratios[i].toFixed(2)})`;
    return value === null ? "–" : quantityText(each.key, value) + ratio;
  };
  const nameOfRow = (each) =>
    each.name.slice(0, each.name.length - each.key.length).replaceAll("_", " ") + nameOf(each.key);
  const row = (each) => [nameOfRow(each), ...each.values.map((value, i) => cell(each, value, i))];
  const listOf = (each) => lists.find((key) => each.name.startsWith(`${key} `));
  const table = (rows, caption) => makeTable(["", ...names], rows.map(row), caption);
  const alone = measured.filter((each) => listOf(each) === undefined);
  const others = lists
    .map((key) => [nameOf(key), measured.filter((each) => listOf(each) === key)])
    .filter(([, rows]) => rows.length > 0)
    .map(([name, rows]) => make("details", {}, make("summary", {}, `${name}: ${rows.length} rows`), table(rows, name)));
  return [alone.length === 0 ? undefined : table(alone), ...others];
}

/** Of `penstock compare`. */
export function compareSections({ result, details }) {
  const names = details.runs.map((run) => run.name);
  const main = result.measured.find((each) => each.name === details.time_key);
  const bar = (value, i) => ({
    name: names[i],
    parts: [value ?? 0],
    note: i === 0 || main.ratios[i] === null ? undefined : `(${main.ratios[i].toFixed(2)})`,
  });
  const lists = listsOf(details.runs[0].result).map(([key]) => key);
  const curves = lists.flatMap((key) =>
    chartsOf(details.runs.map((run) => ({ name: run.name, rows: run.result[key] ?? [] }))),
  );
  return [
    main === undefined
      ? undefined
      : section(
          nameOf(main.key),
          "The shorter the better; in parentheses the ratio to the first.",
          stackedBars(["time"], main.values.map(bar), "s"),
        ),
    scalingSection(result.scaling, details.law),
    section("What was asked differently", "", askedTable(result.asked, names)),
    section("Curves", "", ...curves),
    section(
      "What came out",
      "In parentheses the ratio to the first.",
      ...measuredTables(result.measured, lists, names),
    ),
    section("All numbers", "", sideBySide(details.runs, schemas[result.compared])),
  ];
}
