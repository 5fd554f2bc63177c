// The curves of the page: which numbers are drawn over what, and the chart with its legend.
import { good, keysOf } from "./answers.js";
import { drawChart } from "./chart.js";
import { unitOf } from "./quantities.js";
import { textOf } from "./units.js";

/** The numbers that can be drawn: the model's own choice of them first, under "", then each with its parts. */
export function groupsOf(answers, plotted) {
  const keys = keysOf(answers);
  const hasValues = (key) => good(answers).some((each) => each.points.some((point) => point[key] > 0));
  const usual = plotted.filter((key) => keys.has(key) && !keys.get(key).isPart && hasValues(key));
  const groups = new Map([["", usual]]);
  let parent;
  for (const [key, about] of keys) {
    if (about.isText || !hasValues(key)) {
      parent = about.isPart ? parent : undefined;
    } else if (about.isPart && parent !== undefined) {
      groups.get(parent).push(key);
    } else {
      groups.set(key, [key]);
      parent = key;
    }
  }
  return groups;
}

export const groupName = (keys, group, about) =>
  group === "" ? keys.map((key) => about.get(key)?.name ?? key).join(", ") : about.get(group).name;

/** What `drawChart` draws of the answers to a sweep, over `swept`; `more` are series beside them. */
export function chartOf(answers, keys, swept, marked, more) {
  const shown = good(answers);
  const about = keysOf(answers);
  const [first] = shown;
  const series = shown.flatMap((each, machine) =>
    keys.map((key, colour) => ({
      name: shown.length > 1 ? `${about.get(key).name}, ${each.machine}` : about.get(key).name,
      y: each.points.map((point) => point[key] ?? null),
      unit: about.get(key).unit,
      colour,
      machine,
    })),
  );
  return {
    x: first.points.map((point) => point[swept]),
    swept,
    xName: swept.replaceAll("_", " "),
    xUnit: unitOf(swept),
    isGeometric: first.is_geometric,
    unit: about.get(keys[0])?.unit ?? "",
    series: [...series, ...more],
    marked,
  };
}

/** The names of the curves with their values at one abscissa. */
function fillLegend(place, chart, i) {
  const at = document.createElement("li");
  at.className = "at";
  at.textContent = `${chart.xName} ${textOf(chart.x[i], chart.xUnit)}:`;
  const items = chart.series.map((each) => {
    const item = document.createElement("li");
    item.className = `colour-${each.colour} machine-${each.machine}`;
    const name = document.createElement("span");
    name.textContent = each.x === undefined ? `${each.name} ${textOf(each.y[i], chart.unit)}` : each.name;
    item.append(name);
    return item;
  });
  place.replaceChildren(at, ...items);
}

/** Shows the chart in a figure; `choose` is called with the abscissa that is clicked. */
export function showCurves(figure, chart, words, choose) {
  const nearest = (value) =>
    value === undefined
      ? chart.x.length - 1
      : chart.x.reduce((best, at, i) => (Math.abs(at - value) < Math.abs(chart.x[best] - value) ? i : best), 0);
  let legend = figure.below.querySelector("ul");
  if (legend === null) {
    legend = document.createElement("ul");
    legend.className = "legend";
    figure.below.append(legend);
  }
  const draw = (place, width) => {
    fillLegend(legend, chart, nearest(chart.marked));
    drawChart(place, width, {
      ...chart,
      point: (i) => fillLegend(legend, chart, i ?? nearest(chart.marked)),
      choose: (i) => choose(chart.x[i]),
    });
  };
  figure.show(chart, draw, () => tableOf(chart), words);
}

/** The curves as rows for CSV; measured points are rows of their own. */
export function tableOf(chart) {
  const own = chart.series.filter((each) => each.x !== undefined);
  const others = chart.series.filter((each) => each.x === undefined);
  const head = [chart.swept, ...[...others, ...own].map((each) => each.name)];
  const rows = chart.x.map((at, i) => [at, ...others.map((each) => each.y[i]), ...own.map(() => "")]);
  own.forEach((each, k) =>
    each.x.forEach((at, i) => {
      const row = [at, ...others.map(() => ""), ...own.map(() => "")];
      row[1 + others.length + k] = each.y[i];
      rows.push(row);
    }),
  );
  return [head, ...rows];
}
