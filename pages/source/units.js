// Numbers as people read them.

const prefixes = [
  [1e18, "E"],
  [1e15, "P"],
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];
const times = [
  [1, "s"],
  [1e-3, "ms"],
  [1e-6, "µs"],
  [1e-9, "ns"],
];

/** Four significant digits, without zeros at the end. */
function digits(value) {
  return String(Number(value.toPrecision(4)));
}

/** `value` in `unit` ("s", "B", "B/s", "Flop/s", "" for plain numbers) as text. */
export function textOf(value, unit) {
  if (value === null || value === undefined) {
    return "–";
  }
  if (typeof value !== "number") {
    return String(value);
  }
  if (unit === "s") {
    const [scale, name] = times.find(([each]) => Math.abs(value) >= each) ?? times[times.length - 1];
    return value === 0 ? "0 s" : `${digits(value / scale)} ${name}`;
  }
  if (unit === "") {
    return Math.abs(value) >= 1e4 && Number.isInteger(value) ? value.toLocaleString("en") : digits(value);
  }
  const [scale, prefix] = prefixes.find(([each]) => Math.abs(value) >= each) ?? [1, ""];
  return `${digits(value / scale)} ${prefix}${unit}`;
}

/** A short label for an axis. */
export function labelOf(value, unit) {
  return textOf(value, unit).replace(" ", "\u202f");
}
