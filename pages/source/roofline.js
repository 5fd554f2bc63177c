// The roofline: the rate that a machine allows by the operations for each byte, and what this run reached.
import { chartFigure } from "./chart_figures.js";
import { make } from "./elements.js";
import { textOf } from "./units.js";

const powersOfTwo = (low, high) => {
  const first = Math.ceil(Math.log2(low));
  return Array.from({ length: Math.floor(Math.log2(high)) - first + 1 }, (_, i) => 2 ** (first + i));
};

/** `roofline` has memory_bytes_per_s and flops_per_s of the machine, and points of {name, flops, bytes, time_s}. */
export function rooflineFigure(roofline) {
  const points = roofline.points.filter((each) => each.flops > 0 && each.bytes > 0 && each.time_s > 0);
  if (points.length === 0 || roofline.flops_per_s <= 0) {
    return undefined;
  }
  const at = points.map((each) => each.flops / each.bytes);
  const memory = roofline.memory_bytes_per_s;
  const ridge = memory > 0 ? roofline.flops_per_s / memory : Math.min(...at);
  const low = Math.min(...at, ridge) / 2;
  const high = Math.max(...at, ridge) * 2;
  const roof =
    memory > 0 ? [low * memory, roofline.flops_per_s, roofline.flops_per_s] : Array(3).fill(roofline.flops_per_s);
  const series = [
    { name: "the machine's limit", x: [low, ridge, high], y: roof, colour: 0, machine: 1 },
    ...points.map((each, i) => ({
      name: each.name === "all" ? "the whole transform" : `stage ${each.name}`,
      x: [at[i]],
      y: [each.flops / each.time_s],
      colour: i + 1,
      machine: 0,
    })),
  ];
  const limit =
    memory > 0 ? `memory gives ${textOf(memory, "B/s")}` : "the field stays in cache, so that memory sets no limit";
  const rate = textOf(roofline.flops_per_s, "Flop/s");
  const words = `Right of the bend arithmetic is the limit (${rate}), left of it memory: ${limit}.`;
  const figure = chartFigure("Rate over operations for each byte", {
    x: powersOfTwo(low, high),
    xName: "operations for each byte",
    xUnit: "",
    unit: "Flop/s",
    isGeometric: true,
    series,
  });
  figure.append(make("p", { class: "quiet" }, words));
  return figure;
}
