// Sections of a report.
import { make } from "./elements.js";
import { nameOf, quantityText } from "./quantities.js";

export const percent = (part) => `${Math.round(100 * part)} %`;

/** A part of the page with its title and some words; nothing where all of `content` is undefined. */
export function section(title, words, ...content) {
  const good = content.filter((each) => each !== undefined);
  if (good.length === 0) {
    return undefined;
  }
  return make(
    "section",
    {},
    make("h2", {}, title),
    words === "" ? undefined : make("p", { class: "quiet" }, words),
    ...good,
  );
}

/** The few numbers that answer what was asked: pairs of a name and a text; those without a text are left out. */
export function headline(facts) {
  const tiles = facts
    .filter(([, text]) => text !== undefined)
    .map(([name, text]) => make("div", { class: "tile" }, make("strong", {}, text), make("span", {}, name)));
  return make("section", { class: "tiles", "aria-label": "Results" }, ...tiles);
}

/** A fact of a headline: the name and the text of a key of `result`; no text where there is none. */
export const keyed = (result, key, name) => [
  name ?? nameOf(key),
  result[key] === null || result[key] === undefined ? undefined : quantityText(key, result[key]),
];

/** How many ranks bars are drawn of. */
export const mostRanksOfBars = 256;
