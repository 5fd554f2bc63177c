// Curves over one argument, drawn by D3 into an SVG that stands by itself.
import { axisBottom, axisLeft } from "d3-axis";
import { scaleLinear, scaleLog } from "d3-scale";
import { select } from "d3-selection";
import { line } from "d3-shape";
import { labelOf, textOf } from "./units.js";

const width = 720;
const height = 400;
const margin = { top: 16, right: 16, bottom: 44, left: 76 };

/** How many colours curves have; those of a second machine are dashed as well. */
export const curveCount = 6;

function scaleOf(values, isLogarithmic, range) {
  const good = values.filter((value) => Number.isFinite(value) && (!isLogarithmic || value > 0));
  const low = Math.min(...good);
  const high = Math.max(...good);
  if (good.length === 0) {
    return scaleLinear().domain([0, 1]).range(range);
  }
  if (isLogarithmic) {
    return scaleLog()
      .domain(low === high ? [low / 2, high * 2] : [low, high])
      .range(range);
  }
  return scaleLinear()
    .domain(low === high ? [low - 1, high + 1] : [Math.min(low, 0), high])
    .range(range)
    .nice();
}

function ticks(scale, isLogarithmic, wanted) {
  if (!isLogarithmic) {
    return scale.ticks(wanted);
  }
  const all = scale.ticks(wanted);
  const step = Math.ceil(all.length / wanted);
  const tens = all.filter((value) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9);
  return tens.length >= 3 ? tens.filter((_, i) => i % Math.ceil(tens.length / wanted) === 0) : all.filter((_, i) => i % step === 0);
}

/**
 * Draws into the element `place`: `chart` has `x` (numbers), `xName`, `isGeometric` (both axes are logarithmic),
 * `unit` of the ordinates, `series` of {name, y, machine, colour}, of which one may have an `x` of its own, and `marked`,
 * an abscissa or undefined. `title` says what is drawn; without it the names of the curves do.
 */
export function draw(place, chart) {
  const host = select(place);
  host.selectAll("svg").remove();
  const svg = host
    .append("svg")
    .attr("viewBox", `0 0 ${width} ${height}`)
    .attr("role", "img")
    .attr("aria-label", chart.title ?? `${chart.series.map((each) => each.name).join(", ")} over ${chart.xName}`)
    .attr("class", "chart");
  const x = scaleOf(chart.x, chart.isGeometric, [margin.left, width - margin.right]);
  const y = scaleOf(
    chart.series.flatMap((each) => each.y),
    chart.isGeometric,
    [height - margin.bottom, margin.top],
  );
  svg
    .append("g")
    .attr("class", "axis")
    .attr("transform", `translate(0,${height - margin.bottom})`)
    .call(
      axisBottom(x)
        .tickValues(ticks(x, chart.isGeometric, 8))
        .tickFormat((value) => labelOf(value, "")),
    );
  svg
    .append("g")
    .attr("class", "axis")
    .attr("transform", `translate(${margin.left},0)`)
    .call(
      axisLeft(y)
        .tickValues(ticks(y, chart.isGeometric, 7))
        .tickFormat((value) => labelOf(value, chart.unit)),
    );
  svg
    .append("text")
    .attr("class", "axis-name")
    .attr("x", (margin.left + width - margin.right) / 2)
    .attr("y", height - 6)
    .attr("text-anchor", "middle")
    .text(chart.xName);
  const isDrawn = (value) => Number.isFinite(value) && (!chart.isGeometric || value > 0);
  const path = line()
    .defined(([, value]) => isDrawn(value))
    .x(([at]) => x(at))
    .y(([, value]) => y(value));
  if (chart.marked !== undefined && isDrawn(chart.marked) && chart.marked >= x.domain()[0] && chart.marked <= x.domain()[1]) {
    svg
      .append("line")
      .attr("class", "mark")
      .attr("x1", x(chart.marked))
      .attr("x2", x(chart.marked))
      .attr("y1", margin.top)
      .attr("y2", height - margin.bottom);
  }
  for (const each of chart.series) {
    const points = (each.x ?? chart.x).map((at, i) => [at, each.y[i]]);
    const classes = `curve colour-${each.colour % curveCount} machine-${each.machine}`;
    svg.append("path").attr("class", classes).attr("d", path(points));
    svg
      .append("g")
      .attr("class", classes)
      .selectAll("circle")
      .data(points.filter(([, value]) => isDrawn(value)))
      .enter()
      .append("circle")
      .attr("cx", ([at]) => x(at))
      .attr("cy", ([, value]) => y(value))
      .attr("r", 2.5)
      .append("title")
      .text(([at, value]) => `${each.name}: ${textOf(value, chart.unit)} at ${textOf(at, "")}`);
  }
  return svg.node();
}

/** The text of an SVG file that looks like the drawing on the page. */
export function fileOf(svg) {
  const copy = svg.cloneNode(true);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const kept = ["stroke", "stroke-width", "stroke-dasharray", "fill", "font", "opacity"];
  const originals = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, i) => {
    const style = getComputedStyle(originals[i]);
    element.setAttribute("style", kept.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(copy)}\n`;
}
