// Drawings that stand by themselves: their frame on the page, and the text of a file that looks like it.
import { select } from "d3-selection";

/** An empty SVG of that size in place of what `place` has; `words` say to those who do not see it what it shows. */
export function startSvg(place, width, height, words) {
  const host = select(place);
  host.selectAll("*").remove();
  return host
    .append("svg")
    .attr("viewBox", `0 0 ${width} ${height}`)
    .attr("width", width)
    .attr("height", height)
    .attr("role", "img")
    .attr("aria-label", words);
}

/** The text of an SVG file that looks like the drawing on the page. */
export function fileOf(svg) {
  const copy = svg.cloneNode(true);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const kept = ["stroke", "stroke-width", "stroke-dasharray", "fill", "font", "opacity", "text-anchor"];
  const originals = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, i) => {
    const style = getComputedStyle(originals[i]);
    element.setAttribute("style", kept.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
  });
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  ground.setAttribute("width", "100%");
  ground.setAttribute("height", "100%");
  ground.setAttribute("style", `fill:${getComputedStyle(document.body).backgroundColor}`);
  copy.prepend(ground);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(copy)}\n`;
}
