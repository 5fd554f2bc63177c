// Curves over one argument, drawn by D3 into an SVG that stands by itself.
import { axisBottom, axisLeft } from "d3-axis";
import { scaleLinear, scaleLog } from "d3-scale";
import { line } from "d3-shape";
import { startSvg } from "./svg.js";
import { labelOf } from "./units.js";

const margin = { top: 12, right: 16, bottom: 42, left: 72 };

/** How many colours curves have; those of a second machine are dashed as well. */
export const curveCount = 6;

/** Ordinates that differ by so much are drawn on a logarithmic axis. */
const logarithmicFrom = 30;

function abscissae(values, isLogarithmic, range) {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const scale = isLogarithmic ? scaleLog() : scaleLinear();
  const margins = isLogarithmic ? [low / 2, high * 2] : [low - 1, high + 1];
  return scale.domain(low === high ? margins : [low, high]).range(range);
}

function ordinates(values, range) {
  const good = values.filter((value) => Number.isFinite(value));
  const positive = good.filter((value) => value > 0);
  const low = Math.min(...positive);
  const high = Math.max(...positive);
  if (positive.length === 0) {
    return { scale: scaleLinear().domain([0, 1]).range(range), isLogarithmic: false };
  }
  if (high / low >= logarithmicFrom && positive.length > good.length / 2) {
    return { scale: scaleLog().domain([low, high]).range(range).nice(), isLogarithmic: true };
  }
  const scale = scaleLinear()
    .domain([Math.min(0, ...good), high])
    .range(range)
    .nice();
  return { scale, isLogarithmic: false };
}

/** At most `wanted` of the values, evenly. */
const thinned = (values, wanted) => values.filter((_, i) => i % Math.ceil(values.length / wanted) === 0);

function ticksOf(scale, isLogarithmic, wanted) {
  if (!isLogarithmic) {
    return scale.ticks(wanted);
  }
  const all = scale.ticks();
  const tens = all.filter((value) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9);
  return thinned(tens.length >= 3 ? tens : all, wanted);
}

function drawAxes(svg, chart, x, y, size) {
  const bottom = size.height - margin.bottom;
  const wanted = size.width < 520 ? 5 : 9;
  const along = chart.isGeometric ? thinned(chart.x, wanted) : x.ticks(wanted);
  svg
    .append("g")
    .attr("class", "axis")
    .attr("transform", `translate(0,${bottom})`)
    .call(
      axisBottom(x)
        .tickValues(along)
        .tickFormat((value) => labelOf(value, chart.xUnit)),
    );
  const upwards = axisLeft(y.scale)
    .tickValues(ticksOf(y.scale, y.isLogarithmic, 7))
    .tickSize(-(size.width - margin.left - margin.right))
    .tickFormat((value) => labelOf(value, chart.unit));
  svg.append("g").attr("class", "axis lines").attr("transform", `translate(${margin.left},0)`).call(upwards);
  svg
    .append("text")
    .attr("class", "axis-name")
    .attr("x", (margin.left + size.width - margin.right) / 2)
    .attr("y", size.height - 6)
    .attr("text-anchor", "middle")
    .text(chart.xName);
}

/**
 * Draws into the element `place`: `chart` has `x` (numbers), `xName`, `xUnit`, `isGeometric` (the abscissae grow by
 * factors), `unit` of the ordinates, `series` of {name, y, colour, machine} and, where they are not at `x`, their own
 * `x`; those with `isMeasured` are points without a line. `marked` is an abscissa or undefined. `point(i)` is called
 * with the index of the abscissa under the pointer, and with undefined when the pointer leaves; `choose(i)` when it is
 * clicked. Both may be left out.
 */
export function drawChart(place, width, chart) {
  const size = { width, height: Math.round(Math.min(400, Math.max(240, width * 0.52))) };
  const names = chart.series.map((each) => each.name).join(", ");
  const svg = startSvg(place, size.width, size.height, `${names} over ${chart.xName}`).attr("class", "chart");
  const every = chart.series.flatMap((each) => each.x ?? []).concat(chart.x);
  const x = abscissae(every, chart.isGeometric, [margin.left, width - margin.right]);
  const y = ordinates(
    chart.series.flatMap((each) => each.y),
    [size.height - margin.bottom, margin.top],
  );
  drawAxes(svg, chart, x, y, size);
  const isDrawn = (value) => Number.isFinite(value) && (!y.isLogarithmic || value > 0);
  const mark = svg
    .append("line")
    .attr("class", "mark")
    .attr("y1", margin.top)
    .attr("y2", size.height - margin.bottom);
  const moveMark = (at) => {
    const isThere = at !== undefined && at >= x.domain()[0] && at <= x.domain()[1];
    mark.attr("visibility", isThere ? "visible" : "hidden");
    if (isThere) {
      mark.attr("x1", x(at)).attr("x2", x(at));
    }
  };
  moveMark(chart.marked);
  const path = line()
    .defined(([, value]) => isDrawn(value))
    .x(([at]) => x(at))
    .y(([, value]) => y.scale(value));
  const dot = "a 2.5 2.5 0 1 0 5 0 a 2.5 2.5 0 1 0 -5 0";
  for (const each of chart.series) {
    const points = (each.x ?? chart.x).map((at, i) => [at, each.y[i]]);
    const classes = `colour-${each.colour % curveCount} machine-${each.machine}`;
    if (!each.isMeasured) {
      svg.append("path").attr("class", `curve ${classes}`).attr("d", path(points));
    }
    const dots = points.filter(([, value]) => isDrawn(value));
    svg
      .append("path")
      .attr("class", `dots ${classes}${each.isMeasured ? " measured" : ""}`)
      .attr("d", dots.map(([at, value]) => `M ${x(at) - 2.5} ${y.scale(value)} ${dot}`).join(" "));
  }
  const nearest = (event) => {
    const across = event.clientX - svg.node().getBoundingClientRect().left;
    return chart.x.reduce(
      (best, at, i) => (Math.abs(x(at) - across) < Math.abs(x(chart.x[best]) - across) ? i : best),
      0,
    );
  };
  const touched = svg
    .append("rect")
    .attr("class", "touched")
    .attr("x", margin.left)
    .attr("y", margin.top)
    .attr("width", width - margin.left - margin.right)
    .attr("height", size.height - margin.top - margin.bottom)
    .node();
  touched.addEventListener("pointermove", (event) => {
    const i = nearest(event);
    moveMark(chart.x[i]);
    chart.point?.(i);
  });
  touched.addEventListener("pointerleave", () => {
    moveMark(chart.marked);
    chart.point?.(undefined);
  });
  touched.addEventListener("click", (event) => chart.choose?.(nearest(event)));
}
