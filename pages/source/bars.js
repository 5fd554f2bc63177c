// Bars side by side, each with its name and its value, drawn into an SVG that stands by itself.
import { scaleLinear } from "d3-scale";
import { startSvg } from "./svg.js";

const barHeight = 14;
const gap = 8;

/**
 * Draws into `place`: `rows` of {name, isPart, values: [{value, text, colour, machine}]}; bars begin at `from` and the
 * longest ends at `to` or more. A part of the row above is set in.
 */
export function drawBars(place, width, { rows, from, to }) {
  const isNarrow = width < 520; // names are above their bars
  const nameWidth = isNarrow ? 0 : 190;
  const letters = Math.max(...rows.flatMap((row) => row.values.map((each) => each.text.length)));
  const textWidth = 12 + 8 * letters;
  const heightOf = (row) => row.values.length * (barHeight + 2) + gap + (isNarrow ? 16 : 0);
  const height = rows.reduce((sum, row) => sum + heightOf(row), 4);
  const words = rows.map((row) => `${row.name}: ${row.values.map((each) => each.text).join(", ")}`).join("; ");
  const svg = startSvg(place, width, height, words);
  const values = rows.flatMap((row) => row.values.map((each) => each.value)).filter(Number.isFinite);
  const x = scaleLinear()
    .domain([from, Math.max(to, ...values)])
    .range([0, width - nameWidth - textWidth]);
  let top = 4;
  for (const row of rows) {
    const firstBar = top + (isNarrow ? 16 : 0);
    svg
      .append("text")
      .attr("class", row.isPart ? "bar-name part" : "bar-name")
      .attr("x", row.isPart ? 14 : 0)
      .attr("y", isNarrow ? top + 11 : firstBar + 11)
      .text(row.name);
    row.values.forEach((each, i) => {
      const y = firstBar + i * (barHeight + 2);
      const length = Number.isFinite(each.value) ? Math.max(0, x(each.value)) : 0;
      svg
        .append("rect")
        .attr("class", `bar colour-${each.colour} machine-${each.machine}${row.isPart ? " part" : ""}`)
        .attr("x", nameWidth)
        .attr("y", y)
        .attr("width", Math.max(length, 1))
        .attr("height", barHeight);
      svg
        .append("text")
        .attr("class", "bar-text")
        .attr("x", nameWidth + length + 6)
        .attr("y", y + 11)
        .text(each.text);
    });
    top += heightOf(row);
  }
}
