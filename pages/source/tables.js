// Results as tables: every number, with what its schema says of it.
import { make } from "./elements.js";
import { nameOf, quantityText } from "./quantities.js";

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const isList = (value) => Array.isArray(value) && value.some(isObject);

/** A table that scrolls by itself where the page is narrow. */
export function makeTable(head, rows, caption) {
  const classes = (text) => (text.length < 18 ? { class: "short" } : {});
  const cells = (row, name) => row.map((text) => make(name, name === "th" ? { scope: "col" } : classes(text), text));
  const line = ([first, ...others]) => make("tr", {}, make("th", { scope: "row" }, first), ...cells(others, "td"));
  const table = make(
    "table",
    {},
    ...(caption === undefined ? [] : [make("caption", {}, caption)]),
    make("thead", {}, make("tr", {}, ...cells(head, "th"))),
    make("tbody", {}, ...rows.map(line)),
  );
  return make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": caption ?? head.join(", ") }, table);
}

/** The numbers of `object` as rows of key, name and description; those of objects within it as well. */
function flattened(object, schema, prefix = "") {
  return Object.entries(object).flatMap(([key, value]) => {
    const about = schema?.properties?.[key];
    if (isObject(value)) {
      return flattened(value, about, `${prefix}${nameOf(key)}: `);
    }
    if (isList(value) || value === null || key === "schema" || (Array.isArray(value) && value.length === 0)) {
      return [];
    }
    return [
      {
        path: prefix + key,
        name: prefix + nameOf(key),
        text: quantityText(key, value),
        about: about?.description ?? "",
      },
    ];
  });
}

/** All numbers of one result that are in no list. */
export function numbersTable(result, schema) {
  const rows = flattened(result, schema).map((each) => [each.name, each.text, each.about]);
  return makeTable(["number", "value", "what it is"], rows);
}

/** The numbers of several results, a column for each. */
export function sideBySide(runs, schema) {
  const all = runs.map((run) => new Map(flattened(run.result, schema).map((each) => [each.path, each])));
  const paths = [...new Set(all.flatMap((each) => [...each.keys()]))];
  const rows = paths.map((path) => {
    const first = all.find((each) => each.has(path)).get(path);
    return [first.name, ...all.map((each) => each.get(path)?.text ?? "–")];
  });
  return makeTable(["number", ...runs.map((run) => run.name)], rows);
}

/** The lists of objects within a result, by key. */
export function listsOf(result) {
  return Object.entries(result).filter(([, value]) => isList(value));
}

/** These lists, each a table that is opened by its name. */
export function listTables(result, schema) {
  return listsOf(result).map(([key, list]) => {
    const flat = list.map((row) => new Map(flattened(row, undefined).map((each) => [each.name, each.text])));
    const names = [...new Set(flat.flatMap((row) => [...row.keys()]))];
    const rows = flat.map((row) => names.map((name) => row.get(name) ?? "–"));
    const about = schema?.properties?.[key]?.description ?? "";
    const title = `${nameOf(key)}: ${list.length} row${list.length === 1 ? "" : "s"}`;
    return make(
      "details",
      {},
      make("summary", {}, title),
      make("p", { class: "quiet" }, about),
      makeTable(names, rows, title),
    );
  });
}
