// Lists of results as curves: over the bytes of a message, the nodes of a machine, or what else was varied.
import { curveCount, drawChart } from "./chart.js";
import { make, makeLegend } from "./elements.js";
import { nameOf, unitOf, valueOf } from "./quantities.js";

const abscissas = ["bytes", "workers", "nodes", "threads", "n", "year"];
const ordinates = ["time_min_s", "bytes_per_s", "time_s", "rate_gflops", "speedup", "efficiency"];

const ascending = (values) => [...new Set(values)].sort((a, b) => a - b);

/** A chart as chart.js describes it, with its title and what its curves are. */
export function chartFigure(title, chart) {
  const place = make("div", { class: "drawing" });
  drawChart(place, 760, { ...chart, x: ascending(chart.x) });
  const classesOf = (each) => `colour-${each.colour % curveCount} machine-${each.machine}`;
  const legend = makeLegend(chart.series.map((each) => [each.name, classesOf(each)]));
  return make("figure", {}, make("figcaption", {}, title), place, legend);
}

/** Curves as a result lists them: {title, x_name, y_name, x, series: [{name, y}]}. */
export function givenCurves(curves) {
  return chartFigure(`${curves.title}; ${curves.y_name}`, {
    x: curves.x,
    xName: curves.x_name,
    xUnit: unitOf(curves.x_name),
    unit: curves.unit ?? "",
    isGeometric: isSpread(curves.x),
    series: curves.series.map((each, colour) => ({ ...each, colour, machine: Math.floor(colour / curveCount) })),
  });
}

const isNumber = (value) => typeof value === "number";

function valuesOf(rows, key) {
  return new Set(rows.map((row) => row[key]));
}

/** The key that the rows vary, or undefined: one of the usual ones, else the first of a model's point. */
function abscissaOf(rows) {
  const varies = (key) => rows.every((row) => isNumber(row[key])) && valuesOf(rows, key).size > 2;
  return abscissas.find(varies) ?? Object.keys(rows[0]).slice(0, 1).find(varies);
}

/** What sets one curve apart from another: the texts of a row. */
function curveOf(row) {
  return Object.entries(row)
    .filter(([, value]) => typeof value === "string")
    .map(([, value]) => value)
    .join(", ");
}

function isSpread(values) {
  const good = values.filter((value) => value > 0);
  return good.length > 0 && Math.max(...good) > 20 * Math.min(...good);
}

/** A chart for each quantity that was measured; `runs` are lists of rows, whose curves share a chart. */
function measuredCharts(runs, abscissa) {
  return ordinates
    .filter((key) => runs[0].rows.every((row) => isNumber(row[key])))
    .slice(0, 1)
    .map((key) => {
      const names = [...new Set(runs.flatMap((run) => run.rows.map(curveOf)))];
      const series = runs.flatMap((run, machine) =>
        names.map((name, colour) => {
          const rows = run.rows.filter((row) => curveOf(row) === name);
          const title = runs.length > 1 ? `${name}, ${run.name}` : name;
          return {
            name: title,
            x: rows.map((row) => row[abscissa]),
            y: rows.map((row) => valueOf(key, row[key])),
            colour,
            machine,
          };
        }),
      );
      const all = series.flatMap((each) => each.x);
      return chartFigure(`${nameOf(key)} over ${nameOf(abscissa)}`, {
        x: all,
        xName: nameOf(abscissa),
        xUnit: unitOf(abscissa),
        unit: unitOf(key),
        isGeometric: isSpread(all),
        series: series.filter((each) => each.x.length > 0),
      });
    });
}

/** A model's points: a chart for each unit, in which all quantities of that unit are. */
function modelCharts(runs, abscissa) {
  const { rows } = runs[0];
  const keys = Object.keys(rows[0]).filter(
    (key) => key !== abscissa && valuesOf(rows, key).size > 1 && isNumber(rows[0][key]),
  );
  return ["s", "Flop/s", "B/s"].flatMap((unit) => {
    const drawn = keys.filter((key) => unitOf(key) === unit).slice(0, curveCount);
    if (drawn.length === 0) {
      return [];
    }
    const series = runs.flatMap((run, machine) =>
      drawn.map((key, colour) => ({
        name: runs.length > 1 ? `${nameOf(key)}, ${run.name}` : nameOf(key),
        x: run.rows.map((row) => row[abscissa]),
        y: run.rows.map((row) => row[key]),
        colour,
        machine,
      })),
    );
    const x = series.flatMap((each) => each.x);
    const what = drawn.length > 1 ? { s: "times", "Flop/s": "rates", "B/s": "bandwidths" }[unit] : nameOf(drawn[0]);
    const title = `${what} over ${nameOf(abscissa)}`;
    return [
      chartFigure(title, {
        x,
        xName: nameOf(abscissa),
        xUnit: unitOf(abscissa),
        unit,
        isGeometric: isSpread(x),
        series,
      }),
    ];
  });
}

/** Charts of the lists in `runs`, each {name, rows}; none where nothing was varied. */
export function chartsOf(runs) {
  const good = runs.filter((run) => run.rows.length > 2);
  const abscissa = good.length > 0 ? abscissaOf(good[0].rows) : undefined;
  if (abscissa === undefined) {
    return [];
  }
  const isOneCurve = new Set(good[0].rows.map(curveOf)).size === 1 || good[0].rows[0].gain_of_twice !== undefined;
  return isOneCurve ? modelCharts(good, abscissa) : measuredCharts(good, abscissa);
}
