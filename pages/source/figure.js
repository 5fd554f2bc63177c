// A figure of a page: what it shows, in words and as a drawing, and its numbers, to be saved as SVG and as CSV.
import { fileOf } from "./svg.js";

/** Hands the reader a file. */
export function download(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** The text of a CSV file (RFC 4180) of rows of numbers and texts. */
export function csvOf(rows) {
  const quoted = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => `${row.map(quoted).join(",")}\r\n`).join("");
}

function button(text, name, work) {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = text;
  element.setAttribute("aria-label", `${text} of ${name}`);
  element.addEventListener("click", work);
  return element;
}

/** Appends a figure to `place`; it is hidden until it shows something. `fileName` names its files. */
export function addFigure(place, id, title, note, fileName) {
  const element = document.createElement("figure");
  element.id = id;
  element.hidden = true;
  element.innerHTML =
    '<figcaption><h3></h3><p class="note"></p></figcaption><div class="drawing"></div><div class="below"></div>';
  const heading = element.querySelector("h3");
  const text = element.querySelector(".note");
  heading.textContent = title;
  text.textContent = note;
  const drawing = element.querySelector(".drawing");
  const buttons = document.createElement("div");
  buttons.className = "buttons";
  let shown; // what is drawn
  let rows = () => [];
  let redraw = () => {};
  new ResizeObserver(() => requestAnimationFrame(redraw)).observe(drawing);
  buttons.append(
    button("SVG", title, () =>
      download(`${fileName()}-${id}.svg`, "image/svg+xml", fileOf(drawing.querySelector("svg"))),
    ),
    button("CSV", title, () => download(`${fileName()}-${id}.csv`, "text/csv", csvOf(rows()))),
  );
  element.append(buttons);
  place.append(element);
  return {
    drawing,
    below: element.querySelector(".below"),
    hide() {
      element.hidden = true;
      shown = undefined;
      redraw = () => {};
    },
    /**
     * `draw(drawing, width)` draws an SVG unless what it is drawn from, `content`, and the width are as they were;
     * `table()` gives the rows for CSV. `words`, where given, replace the title and the note.
     */
    show(content, draw, table, words = {}) {
      element.hidden = false;
      heading.textContent = words.title ?? title;
      text.textContent = words.note ?? note;
      rows = table;
      const said = JSON.stringify(content);
      redraw = () => {
        const width = Math.max(280, Math.min(drawing.clientWidth || 720, 900));
        const key = `${width} ${said}`;
        if (key !== shown) {
          shown = key;
          draw(drawing, width);
        }
      };
      redraw();
    },
  };
}
