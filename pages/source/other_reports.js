// The reports of the other subcommands: what is special to each.
import { gainBars, stackedBars } from "./stacked_bars.js";
import { givenCurves } from "./chart_figures.js";
import { make } from "./elements.js";
import { quantityText } from "./quantities.js";
import { headline, keyed, mostRanksOfBars, percent, section } from "./sections.js";
import { makeTable } from "./tables.js";
import { textOf } from "./units.js";

export function gemmSections({ result, details }) {
  const names = ["multiply", "wait", "to and from blocks", "other"];
  const rows = details.ranks.map((rank, i) => {
    const known = [rank.multiply_s, rank.wait_s, rank.redistribute_s];
    return { name: `rank ${i}`, parts: [...known, Math.max(0, rank.total_s - known.reduce((a, b) => a + b, 0))] };
  });
  const limit = result.machine_gflops > 0 ? (result.time_min_s * result.rate_gflops) / result.machine_gflops : 0;
  const possible = [
    { name: "predicted", parts: [result.predicted_s] },
    { name: "measured", parts: [result.time_min_s] },
    { name: "multiplies alone", parts: [limit] },
  ];
  return [
    headline([
      keyed(result, "time_min_s", "fastest"),
      keyed(result, "rate_gflops", "rate"),
      ["of what the blocks reach alone", percent(result.rate_gflops / result.machine_gflops)],
    ]),
    section(
      "Measured, predicted, possible",
      `${result.algorithm}: ${result.reason}`,
      stackedBars(["time"], possible, "s"),
    ),
    section(
      "Ranks",
      "The best repetition. Waiting is for panels and for one another.",
      stackedBars(names, rows.slice(0, mostRanksOfBars), "s"),
    ),
  ];
}

export function deviceProductSections({ result }) {
  const limits = [
    { name: "measured", parts: [result.time_min_s] },
    { name: "predicted", parts: [result.predicted_s] },
    { name: "multiplies", parts: [result.limit_multiply_s] },
    { name: "bus", parts: [result.limit_bus_s] },
  ];
  const { tiling } = result;
  return [
    headline([
      ["device", result.device.name],
      keyed(result, "time_min_s", "fastest"),
      keyed(result, "rate_gflops", "rate"),
      [`of the limit, set by the ${result.bound_by}`, percent(result.fraction_of_limit)],
    ]),
    section(
      "Measured, predicted, possible",
      `${tiling.tiles} tiles of ${tiling.tile_m} × ${tiling.tile_n}, panels ${tiling.depth} deep. ` +
        "The least times that the operations take at the device's rate, and the matrices over its bus.",
      stackedBars(["time"], limits, "s"),
    ),
  ];
}

export function deviceSections({ result }) {
  const names = ["device", "to the host", "waiting"];
  const stages = (direction) =>
    result[`${direction}_stages`].map((stage) => ({
      name: `${direction}, ${stage.is_move ? "move" : `along ${stage.along}`}`,
      parts: [stage.device_s, stage.to_host_s, stage.wait_s],
    }));
  const limits = [
    { name: "measured", parts: [result.forward_min_s] },
    { name: "device memory", parts: [result.limit_device_memory_s] },
    { name: "bus", parts: [result.limit_bus_s] },
  ];
  return [
    headline([
      ["device", result.device.name],
      keyed(result, "forward_min_s", "forward, fastest"),
      keyed(result, "rate_gflops", "rate"),
      [`of the limit, set by the ${result.bound_by}`, percent(result.fraction_of_limit)],
    ]),
    section(
      "Where the time went",
      "The best repetition, mean of all ranks. Waiting is the host's, for other ranks and for copies to them.",
      stackedBars(names, [...stages("forward"), ...stages("backward")], "s"),
    ),
    section(
      "Measured and possible",
      "The least times that passes over the device's memory and copies over its bus take.",
      stackedBars(["time"], limits, "s"),
    ),
  ];
}

export function nasSections({ result }) {
  const { plan_s, setup_s, fft_s, evolve_s, checksum_s } = result.breakdown;
  const sums = result.checksums.map(([real, imaginary], i) => [
    String(i + 1),
    real.toPrecision(12),
    imaginary.toPrecision(12),
    result.errors[i].toExponential(1),
  ]);
  return [
    headline([
      ["verification", result.verified ? "successful" : "failed"],
      keyed(result, "time_s", "time"),
      ["rate", textOf(result.rate_mops * 1e6, "op/s")],
    ]),
    section(
      "Where the time went",
      "",
      stackedBars(
        ["plan", "set-up", "transforms", "evolution", "checksums"],
        [{ name: `class ${result.class}`, parts: [plan_s, setup_s, fft_s, evolve_s, checksum_s] }],
        "s",
      ),
    ),
    section(
      "Checksums",
      "Of each step, and how far they are from those published.",
      makeTable(["step", "real", "imaginary", "error"], sums),
    ),
  ];
}

export function filesSections({ result }) {
  const predicted = result.predicted_s > 0 ? [{ name: "predicted", parts: [result.predicted_s, 0] }] : [];
  // Threads wait; their share of the time is what a wall clock shows.
  const waited = Math.min(result.time_s, result.waited_s / Math.max(1, result.threads));
  const measured = { name: "measured", parts: [Math.max(0, result.time_s - waited), waited] };
  return [
    headline([
      keyed(result, "time_s", "time"),
      keyed(result, "rate_gflops", "rate"),
      keyed(result, "read_bytes", "read"),
      keyed(result, "written_bytes", "written"),
      keyed(result, "peak_resident_bytes", "of memory at most"),
    ]),
    section(
      "Measured and predicted",
      "Waiting is for files and for other ranks, a thread's mean.",
      stackedBars(["work", "waiting"], [...predicted, measured], "s"),
    ),
  ];
}

/** Ways to do the same, a bar for each. */
export function waysSections({ result }) {
  const key = "time_min_s";
  const rows = (result.results ?? []).map((row) => ({
    name: row.way,
    parts: [row[key]],
    note: `(${quantityText("rate_gflops", row.rate_gflops)})`,
  }));
  return [section("Ways beside each other", "The fastest repetition of each.", stackedBars(["time"], rows, "s"))];
}

export function packSections({ result }) {
  const rivals = ["against_hand", "against_mpi", "against_memcpy"];
  const rows = result.geometric_means.map((row) => [
    `${row.group}, ${row.operation}, ${row.regime}`,
    String(row.cases),
    ...rivals.map((key) => (row[key] === null || row[key] === undefined ? "–" : row[key].toFixed(2))),
  ]);
  return [
    section(
      "Times as fast as",
      "Geometric means over the cases: above 1, Penstock is faster.",
      makeTable(["cases", "number", "loops by hand", "MPI", "memcpy"], rows),
    ),
  ];
}

export function messagesSections({ result }) {
  return [
    headline([
      ["machine", result.machine],
      ["transport", result.transport],
      ["ranks", String(result.ranks)],
      ["times as fast as MPI (geometric mean)", result.geometric_mean_speedup?.toFixed(2)],
    ]),
  ];
}

export function calibrateSections({ result, details }) {
  const left =
    result.left_out.length === 0 ? undefined : make("ul", {}, ...result.left_out.map((each) => make("li", {}, each)));
  return [
    headline([
      ["machine", result.machine],
      keyed(result, "took_s", "taken"),
      ["figures", String(result.figures.length)],
    ]),
    section("Curves", "", ...details.curves.map(givenCurves)),
    section("What could not be measured", "", left),
  ];
}

export function modelSections({ result }) {
  const [point] = result.points ?? [];
  if (point === undefined) {
    return [];
  }
  const isAlone = result.points.length === 1;
  const facts = isAlone
    ? [
        keyed(point, "time_s", "time"),
        keyed(point, "rate_flops", "rate"),
        ["bound by", point.bound_by?.replaceAll("_", " ")],
      ]
    : [
        ["points", String(result.points.length)],
        [
          "bound by, first and last",
          point.bound_by && `${point.bound_by}, ${result.points.at(-1).bound_by}`.replaceAll("_", " "),
        ],
      ];
  const gains = isAlone && point.gain_of_twice !== undefined ? gainBars(point.gain_of_twice) : undefined;
  return [headline([["machine", result.machine], ...facts]), section("What twice of each resource gains", "", gains)];
}

export function reproduceSections({ result }) {
  const statements = result.flatMap((each) => each.statements ?? []);
  const printed = statements.filter((each) => each.theirs !== undefined);
  const agreeing = printed.filter((each) => each.reproduces);
  const of = (found) => {
    const rows = (found.statements ?? []).map((each) => [
      each.unit === "" ? each.what : `${each.what}, ${each.unit}`,
      each.theirs === undefined ? "" : textOf(each.theirs, ""),
      textOf(each.ours, ""),
      each.theirs === undefined ? "" : `${(100 * each.relative_difference).toFixed(1)} %`,
      each.theirs === undefined ? "" : each.reproduces ? "yes" : `no: ${each.note ?? ""}`,
    ]);
    return section(
      found.name,
      found.source,
      makeTable(["figure", "theirs", "ours", "differs", "reproduces"], rows),
      ...found.curves.map(givenCurves),
    );
  };
  return [
    headline([
      ["printed figures reproduce", `${agreeing.length} of ${printed.length}`],
      ["documents", String(result.length)],
    ]),
    ...result.map(of),
  ];
}

export function trySections({ result }) {
  const rows = [
    { name: "as it is", parts: [Math.min(...result.without_s)] },
    { name: "with the libraries", parts: [Math.min(...result.with_s)] },
  ];
  return [
    headline([
      ["times as fast", result.times_as_fast.toFixed(2)],
      ["lines of output that differ", String(result.output_lines_that_differ)],
    ]),
    section("Times", "The fastest run of each.", stackedBars(["time"], rows, "s")),
    section("What the libraries told", "", make("pre", { tabindex: "0" }, result.served)),
  ];
}
