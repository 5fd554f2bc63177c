// Bars whose parts are what a time is made of.
import { make, makeLegend } from "./elements.js";
import { textOf } from "./units.js";

/**
 * Rows of {name, parts: [numbers in the order of `names`], note} as bars beside each other, all to one scale in `unit`.
 */
export function stackedBars(names, rows, unit) {
  const totalOf = (row) => row.parts.reduce((sum, part) => sum + part, 0);
  const longest = Math.max(...rows.map(totalOf), Number.MIN_VALUE);
  const bars = rows.map((row) => {
    const told = names.map((name, i) => `${name} ${textOf(row.parts[i], unit)}`).join(", ");
    const parts = row.parts.map((part, i) =>
      make("span", {
        class: `part colour-${i}`,
        style: `width:${(100 * part) / longest}%`,
        title: `${names[i]} ${textOf(part, unit)}`,
      }),
    );
    const total = textOf(totalOf(row), unit);
    return make(
      "div",
      { class: "bar-row" },
      make("span", {}, row.name),
      make("span", { class: "parts", role: "img", "aria-label": `${row.name}: ${told}` }, ...parts),
      make("span", {}, row.note === undefined ? total : `${total} ${row.note}`),
    );
  });
  const legend = names.length > 1 ? makeLegend(names.map((name, i) => [name, `colour-${i}`])) : undefined;
  return make("div", { class: "bars" }, ...(legend === undefined ? [] : [legend]), ...bars);
}

/** What twice of each resource gains: {resource: factor}. */
export function gainBars(factors) {
  const rows = Object.entries(factors).map(([resource, factor]) => {
    const name = `twice the ${resource.replaceAll("_", " ")}`;
    const value = `${factor.toFixed(2)} times faster`;
    const meter = make("meter", { min: 1, max: 2, value: factor, "aria-label": `${name}: ${value}` });
    return make("div", { class: "bar-row" }, make("span", {}, name), meter, make("span", {}, value));
  });
  return make("div", { class: "bars" }, ...rows);
}
