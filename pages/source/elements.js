// Elements of a page, made in one expression.

const drawing = "http://www.w3.org/2000/svg";

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

/** An HTML element with attributes and children: elements or texts; undefined ones are left out. */
export function make(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** The same of an SVG. */
export function makeSvg(name, attributes = {}, ...children) {
  return filled(document.createElementNS(drawing, name), attributes, children);
}

/** A list of what colours mean: `names` in the order of the page's colours; `machines` beyond the first are dashed. */
export function makeLegend(names) {
  const items = names.map(([name, classes]) => make("li", { class: classes }, name));
  return make("ul", { class: "legend" }, ...items);
}
