// What a key of a result says: its name, its unit, and its text.
import { textOf } from "./units.js";

// By the end of the key: the unit, and how many of it are one.
const endings = [
  ["_bytes_per_s", "B/s", 1],
  ["_bytes_per_rank", "B", 1],
  ["_gflops", "Flop/s", 1e9],
  ["_mops", "op/s", 1e6],
  ["_flops", "Flop/s", 1],
  ["_flops_per_core", "Flop/s", 1],
  ["_bytes", "B", 1],
  ["_s", "s", 1],
];

function endingOf(key) {
  return endings.find(([ending]) => key.endsWith(ending) || key === ending.slice(1));
}

/** "time min" of time_min_s. */
export function nameOf(key) {
  const ending = endingOf(key);
  const stem = ending === undefined ? key : key.slice(0, Math.max(key.length - ending[0].length, 0)) || key;
  return stem.replaceAll("_", " ");
}

/** The unit that a key tells: "B/s" of "network.link_bandwidth_bytes_per_s". */
export function unitOf(key) {
  return endingOf(key)?.[1] ?? "";
}

/** The value in the unit of its key. */
export function valueOf(key, value) {
  return typeof value === "number" ? value * (endingOf(key)?.[2] ?? 1) : value;
}

/** The value as people read it. */
export function quantityText(key, value) {
  if (Array.isArray(value)) {
    const shown = value.slice(0, 12).map((each) => quantityText(key, each));
    return shown.join(key === "size" || key === "grid" ? " × " : ", ") + (value.length > 12 ? ", …" : "");
  }
  if (typeof value === "boolean") {
    return value ? "yes" : "no";
  }
  return textOf(valueOf(key, value), unitOf(key));
}
