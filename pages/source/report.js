// The page of a run, or of several beside each other: `penstock ... --report` and `penstock compare`.
import { gainBars, stackedBars } from "./bars.js";
import { drawBoxes, exchangeFigure } from "./boxes.js";
import { chartsOf, givenCurves } from "./curves.js";
import { make } from "./elements.js";
import { nameOf, quantityText } from "./quantities.js";
import { rooflineFigure } from "./roofline.js";
import { schemas } from "./schemas.js";
import { listTables, listsOf, makeTable, numbersTable, sideBySide } from "./tables.js";
import { textOf } from "./units.js";

const percent = (part) => `${Math.round(100 * part)} %`;

function section(title, words, ...content) {
  const good = content.filter((each) => each !== undefined);
  if (good.length === 0) {
    return undefined;
  }
  return make("section", {}, make("h2", {}, title), words === "" ? undefined : make("p", { class: "quiet" }, words), ...good);
}

/** The few numbers that answer what was asked. */
function headline(facts) {
  const tiles = facts
    .filter(([, text]) => text !== undefined)
    .map(([name, text]) => make("div", { class: "tile" }, make("strong", {}, text), make("span", {}, name)));
  return make("section", { class: "tiles", "aria-label": "Results" }, ...tiles);
}

const keyed = (result, key, name) => [name ?? nameOf(key), result[key] === null || result[key] === undefined ? undefined : quantityText(key, result[key])];

function partsOf(breakdown) {
  const { transform_s, move_s, wait_s, total_s } = breakdown;
  return [transform_s, move_s, wait_s, Math.max(0, total_s - transform_s - move_s - wait_s)];
}

function fftTimes(result) {
  const stages = (direction) =>
    result[`${direction}_stages`].map((stage) => ({
      name: `${direction}, ${stage.transforms_along === null ? "move" : `along ${stage.transforms_along}`}`,
      parts: [stage.transform_s, stage.gather_s + stage.scatter_s, stage.wait_s, 0],
      note: stage.bound_by === null ? undefined : `(bound by ${stage.bound_by})`,
    }));
  const rows = [
    { name: "forward", parts: partsOf(result.forward_breakdown) },
    ...stages("forward"),
    { name: "backward", parts: partsOf(result.backward_breakdown) },
    ...stages("backward"),
  ];
  return section(
    "Where the time went",
    "The best repetition, mean of all ranks and threads. Moving is what copies take beside transforms; waiting is for other ranks; the rest is starting threads and their waiting for one another.",
    stackedBars(["transform", "move", "wait", "other"], rows, "s"),
  );
}

function fftPrediction(result, details) {
  const measured = partsOf(result.forward_breakdown);
  const rows = [{ name: "measured", parts: [measured[0], measured[1], measured[2], measured[3]] }];
  if (result.predicted_s !== null) {
    const parts = [result.predicted_transform_s, result.predicted_move_s, result.predicted_message_s, result.predicted_start_s];
    rows.unshift({ name: "predicted", parts });
  }
  if (result.limit_s > 0) {
    rows.push({ name: "limit", parts: [result.limit_s, 0, 0, 0], note: result.limit_memory_s > result.limit_arithmetic_s ? "(memory)" : "(arithmetic)" });
  }
  const words =
    result.predicted_s === null
      ? "Nothing was predicted: give --machine FILE.toml, as penstock calibrate writes it. The limit is what the memory's bandwidth and the arithmetic allow."
      : `The model was ${Math.abs(Math.round(100 * result.prediction_error))} % ${result.prediction_error < 0 ? "below" : "above"} the measurement, and says that the transform is bound by ${result.predicted_bound_by}.`;
  const gains = Object.keys(details.gains.factors).length === 0 ? [] : [make("h3", {}, `What twice of each resource makes of ${details.gains.of}`), gainBars(details.gains.factors)];
  return section("Measured, predicted, possible", words, stackedBars(["transform", "move", "messages or waiting", "start or other"], rows, "s"), ...gains);
}

const mostRanksOfBars = 256;

function rankBars(ranks) {
  if (ranks.length === 1) {
    return undefined;
  }
  const all = ranks.map((rank, i) => {
    const sums = rank.stages.reduce(([g, t, s, w], each) => [g + each[0], t + each[1], s + each[2], w + each[3]], [0, 0, 0, 0]);
    const rest = Math.max(0, rank.total_s - sums.reduce((a, b) => a + b, 0));
    return { name: `rank ${i}`, parts: [sums[1], sums[0] + sums[2], sums[3], rest], total: rank.total_s };
  });
  const slowest = all.reduce((a, b) => (b.parts[3 - 1] < a.parts[3 - 1] ? b : a));
  const words = `${slowest.name} waited least, so that the others waited for it.`;
  return section(
    "Ranks",
    `Forward, the best repetition. Even work is bars alike; ${words}`,
    stackedBars(["transform", "move", "wait", "other"], all.slice(0, mostRanksOfBars), "s"),
  );
}

function fftPlan(result, details) {
  const size = details.stages.reduce((most, stage) => stage.boxes.reduce((a, box) => a.map((n, d) => Math.max(n, box[d] + box[d + 3])), most), [1, 1, 1]);
  const spectrum = details.output.reduce((a, box) => a.map((n, d) => Math.max(n, box[d] + box[d + 3])), [1, 1, 1]);
  const figures = details.stages.map((stage, i) => {
    const title = `${i + 1}. ${stage.name === "move" ? "move" : `transform along ${stage.name}`}`;
    return make("figure", {}, drawBoxes(size, stage.boxes, title), make("figcaption", {}, title));
  });
  figures.push(make("figure", {}, drawBoxes(spectrum, details.output, "the spectrum"), make("figcaption", {}, "the spectrum")));
  const passes = `${result.passes} pass${result.passes === 1 ? "" : "es"} over memory`;
  const words = `A grid of ${result.grid.join(" × ")} ranks, ${passes}. Each colour is a rank and the box of points that it holds before a stage. Between stages whose boxes differ, ranks exchange what they do not have.`;
  return section("The plan", words, make("div", { class: "figures" }, ...figures));
}

function fftExchanges(details) {
  const exchanges = details.stages.filter((stage) => stage.bytes?.some((row) => row.some((value) => value > 0)));
  if (details.stages[0].boxes.length === 1 || exchanges.length === 0) {
    return undefined;
  }
  const figures = exchanges.map((stage) => exchangeFigure(stage, `After the transform along ${stage.name}`));
  return section(
    "Who sends what to whom",
    "Bytes of one field from the rank of the row to the rank of the column; the darker, the more. What a rank keeps is outlined.",
    make("div", { class: "figures" }, ...figures),
  );
}

function fftSections({ result, details }) {
  const fraction = result.fraction_of_limit === null || result.limit_s === 0 ? undefined : percent(result.fraction_of_limit);
  return [
    headline([
      keyed(result, "forward_min_s", "forward, fastest"),
      keyed(result, "rate_gflops", "rate"),
      ["of the machine's limit", fraction],
      keyed(result, "relative_error", `error; ${result.tolerance.toPrecision(2)} is allowed`),
    ]),
    fftTimes(result),
    fftPrediction(result, details),
    section("The roofline", "", rooflineFigure(details.roofline)),
    fftPlan(result, details),
    fftExchanges(details),
    rankBars(details.forward),
  ];
}

function gemmSections({ result, details }) {
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
    headline([keyed(result, "time_min_s", "fastest"), keyed(result, "rate_gflops", "rate"), ["of what the blocks reach alone", percent(result.rate_gflops / result.machine_gflops)]]),
    section("Measured, predicted, possible", `${result.algorithm}: ${result.reason}`, stackedBars(["time"], possible, "s")),
    section("Ranks", "The best repetition. Waiting is for panels and for one another.", stackedBars(names, rows.slice(0, mostRanksOfBars), "s")),
  ];
}

function nasSections({ result }) {
  const { plan_s, setup_s, fft_s, evolve_s, checksum_s } = result.breakdown;
  const sums = result.checksums.map(([real, imaginary], i) => [String(i + 1), real.toPrecision(12), imaginary.toPrecision(12), result.errors[i].toExponential(1)]);
  return [
    headline([["verification", result.verified ? "successful" : "failed"], keyed(result, "time_s", "time"), ["rate", textOf(result.rate_mops * 1e6, "op/s")]]),
    section("Where the time went", "", stackedBars(["plan", "set-up", "transforms", "evolution", "checksums"], [{ name: `class ${result.class}`, parts: [plan_s, setup_s, fft_s, evolve_s, checksum_s] }], "s")),
    section("Checksums", "Of each step, and how far they are from those published.", makeTable(["step", "real", "imaginary", "error"], sums)),
  ];
}

function filesSections({ result }) {
  const predicted = result.predicted_s > 0 ? [{ name: "predicted", parts: [result.predicted_s, 0] }] : [];
  // Threads wait; their share of the time is what a wall clock shows.
  const waited = Math.min(result.time_s, result.waited_s / Math.max(1, result.threads));
  const measured = { name: "measured", parts: [Math.max(0, result.time_s - waited), waited] };
  return [
    headline([keyed(result, "time_s", "time"), keyed(result, "rate_gflops", "rate"), keyed(result, "read_bytes", "read"), keyed(result, "written_bytes", "written"), keyed(result, "peak_resident_bytes", "of memory at most")]),
    section("Measured and predicted", "Waiting is for files and for other ranks, a thread's mean.", stackedBars(["work", "waiting"], [...predicted, measured], "s")),
  ];
}

/** Ways to do the same, a bar for each. */
function waysSections({ result }) {
  const key = "time_min_s";
  const rows = (result.results ?? []).map((row) => ({ name: row.way, parts: [row[key]], note: `(${quantityText("rate_gflops", row.rate_gflops)})` }));
  return [section("Ways beside each other", "The fastest repetition of each.", stackedBars(["time"], rows, "s"))];
}

function packSections({ result }) {
  const rivals = ["against_hand", "against_mpi", "against_memcpy"];
  const rows = result.geometric_means.map((row) => [
    `${row.group}, ${row.operation}, ${row.regime}`,
    String(row.cases),
    ...rivals.map((key) => (row[key] === null || row[key] === undefined ? "–" : row[key].toFixed(2))),
  ]);
  return [section("Times as fast as", "Geometric means over the cases: above 1, Penstock is faster.", makeTable(["cases", "number", "loops by hand", "MPI", "memcpy"], rows))];
}

function messagesSections({ result }) {
  return [headline([["machine", result.machine], ["transport", result.transport], ["ranks", String(result.ranks)], ["times as fast as MPI (geometric mean)", result.geometric_mean_speedup?.toFixed(2)]])];
}

function calibrateSections({ result, details }) {
  const left = result.left_out.length === 0 ? undefined : make("ul", {}, ...result.left_out.map((each) => make("li", {}, each)));
  return [
    headline([["machine", result.machine], keyed(result, "took_s", "taken"), ["figures", String(result.figures.length)]]),
    ...details.curves.map((curves) => section(curves.title, "", givenCurves(curves))),
    section("What could not be measured", "", left),
  ];
}

function modelSections({ result }) {
  const [point] = result.points ?? [];
  if (point === undefined) {
    return [];
  }
  const isAlone = result.points.length === 1;
  const facts = isAlone ? [keyed(point, "time_s", "time"), keyed(point, "rate_flops", "rate"), ["bound by", point.bound_by?.replaceAll("_", " ")]] : [["points", String(result.points.length)], ["bound by, first and last", point.bound_by && `${point.bound_by}, ${result.points.at(-1).bound_by}`.replaceAll("_", " ")]];
  const gains = isAlone && point.gain_of_twice !== undefined ? gainBars(point.gain_of_twice) : undefined;
  return [headline([["machine", result.machine], ...facts]), section("What twice of each resource gains", "", gains)];
}

function reproduceSections({ result }) {
  const statements = result.flatMap((each) => each.statements ?? []);
  const printed = statements.filter((each) => each.theirs !== undefined);
  const agreeing = printed.filter((each) => each.reproduces);
  const of = (found) => {
    const rows = (found.statements ?? []).map((each) => [each.unit === "" ? each.what : `${each.what}, ${each.unit}`, each.theirs === undefined ? "" : textOf(each.theirs, ""), textOf(each.ours, ""), each.theirs === undefined ? "" : `${(100 * each.relative_difference).toFixed(1)} %`, each.theirs === undefined ? "" : each.reproduces ? "yes" : `no: ${each.note ?? ""}`]);
    return section(found.name, found.source, makeTable(["figure", "theirs", "ours", "differs", "reproduces"], rows), ...found.curves.map(givenCurves));
  };
  return [headline([["printed figures reproduce", `${agreeing.length} of ${printed.length}`], ["documents", String(result.length)]]), ...result.map(of)];
}

function trySections({ result }) {
  const rows = [
    { name: "as it is", parts: [Math.min(...result.without_s)] },
    { name: "with the libraries", parts: [Math.min(...result.with_s)] },
  ];
  return [
    headline([["times as fast", result.times_as_fast.toFixed(2)], ["lines of output that differ", String(result.output_lines_that_differ)]]),
    section("Times", "The fastest run of each.", stackedBars(["time"], rows, "s")),
    section("What the libraries told", "", make("pre", { tabindex: "0" }, result.served)),
  ];
}

function scalingSection(scaling, law) {
  if (scaling === null) {
    return undefined;
  }
  const x = scaling.points.map((point) => point.workers);
  const series = [
    { name: "measured", x, y: scaling.points.map((point) => point.speedup) },
    { name: "ideal", x, y: x },
    ...(law === null ? [] : [{ name: "Amdahl's law, fitted", ...law }]),
  ];
  const rows = scaling.points.map((point) => [
    String(point.workers),
    textOf(point.time_s, "s"),
    point.speedup.toFixed(2),
    percent(point.efficiency),
  ]);
  const { value, low, high } = scaling.serial ?? {};
  const words =
    scaling.serial === null
      ? "Speed-up is that over the run of fewest workers, times their number."
      : `Amdahl's law fits with a serial part of ${textOf(value, "")} (${textOf(low, "")} to ${textOf(high, "")}, 95 %).`;
  const curves = { title: "Speed-up", y_name: "workers are ranks times threads", x_name: "workers", x: series.flatMap((each) => each.x), series };
  return section("Scaling", words, givenCurves(curves), makeTable(["workers", "time", "speed-up", "efficiency"], rows));
}

/** What differs in what was asked, a row for each. */
function askedTable(asked, names) {
  const differing = asked.filter((each) => new Set(each.values.map((value) => JSON.stringify(value))).size > 1);
  const rows = differing.map((each) => [nameOf(each.key), ...each.values.map((value) => quantityText(each.key, value))]);
  return rows.length === 0 ? make("p", {}, "Nothing.") : makeTable(["", ...names], rows);
}

/** What was measured, by name; of rows of lists in tables that are opened. */
function measuredTables(measured, lists, names) {
  const cell = (each, value, i) => {
    const ratio = i === 0 || each.ratios[i] === null ? "" : ` (${each.ratios[i].toFixed(2)})`;
    return value === null ? "–" : quantityText(each.key, value) + ratio;
  };
  const nameOfRow = (each) => each.name.slice(0, each.name.length - each.key.length).replaceAll("_", " ") + nameOf(each.key);
  const row = (each) => [nameOfRow(each), ...each.values.map((value, i) => cell(each, value, i))];
  const listOf = (each) => lists.find((key) => each.name.startsWith(`${key} `));
  const table = (rows, caption) => makeTable(["", ...names], rows.map(row), caption);
  const alone = measured.filter((each) => listOf(each) === undefined);
  const others = lists
    .map((key) => [nameOf(key), measured.filter((each) => listOf(each) === key)])
    .filter(([, rows]) => rows.length > 0)
    .map(([name, rows]) => make("details", {}, make("summary", {}, `${name}: ${rows.length} rows`), table(rows, name)));
  return [alone.length === 0 ? undefined : table(alone), ...others];
}

function compareSections({ result, details }) {
  const names = details.runs.map((run) => run.name);
  const main = result.measured.find((each) => each.name === details.time_key);
  const bar = (value, i) => ({
    name: names[i],
    parts: [value ?? 0],
    note: i === 0 || main.ratios[i] === null ? undefined : `(${main.ratios[i].toFixed(2)})`,
  });
  const lists = listsOf(details.runs[0].result).map(([key]) => key);
  const curves = lists.flatMap((key) =>
    chartsOf(details.runs.map((run) => ({ name: run.name, rows: run.result[key] ?? [] }))),
  );
  return [
    main === undefined ? undefined : section(nameOf(main.key), "The shorter the better; in parentheses the ratio to the first.", stackedBars(["time"], main.values.map(bar), "s")),
    scalingSection(result.scaling, details.law),
    section("What was asked differently", "", askedTable(result.asked, names)),
    section("Curves", "", ...curves),
    section("What came out", "In parentheses the ratio to the first.", ...measuredTables(result.measured, lists, names)),
    section("All numbers", "", sideBySide(details.runs, schemas[result.compared])),
  ];
}

const views = {
  fft: fftSections,
  "fft-files": filesSections,
  "gemm-ranks": gemmSections,
  "gemm-files": filesSections,
  "nas-ft": nasSections,
  "bench-gemm": waysSections,
  "bench-gemm-files": waysSections,
  "bench-pack": packSections,
  "bench-latency": messagesSections,
  "bench-bandwidth": messagesSections,
  "bench-exchange": messagesSections,
  calibrate: calibrateSections,
  reproduce: reproduceSections,
  try: trySections,
  compare: compareSections,
};

function titleOf({ schema, result }) {
  const size = Array.isArray(result.size) ? `, ${result.size.join(" × ")} points` : "";
  const on = result.ranks === undefined ? "" : `, ${result.ranks} rank${result.ranks === 1 ? "" : "s"}`;
  const words = { "gemm-ranks": "gemm", "gemm-files": "gemm in files", "fft-files": "fft in files" };
  return `penstock ${words[schema] ?? schema.replace("-", " ")}${size}${on}`;
}

/** Curves and tables of whatever else a result lists. */
function commonSections({ schema, result }) {
  if (schema === "compare" || Array.isArray(result)) {
    return [];
  }
  const curves = listsOf(result).flatMap(([, rows]) => chartsOf([{ name: "", rows }]));
  return [
    section("Curves", "", ...curves),
    section("All numbers", "", numbersTable(result, schemas[schema]), ...listTables(result, schemas[schema])),
  ];
}

function commandSection(command) {
  const copy = make("button", { type: "button" }, "Copy");
  copy.addEventListener("click", () => navigator.clipboard?.writeText(command));
  return section("The command that repeats this", "", make("pre", { tabindex: "0" }, command), make("div", { class: "buttons" }, copy));
}

const run = JSON.parse(document.getElementById("run").textContent);
document.title = titleOf(run);
document.getElementById("title").textContent = titleOf(run);
document.getElementById("origin").textContent = `${run.host}, ${run.written}, Penstock ${run.version}`;
const view = views[run.schema] ?? modelSections;
const sections = [...view(run), ...commonSections(run), commandSection(run.command)];
document.getElementById("report").append(...sections.filter((each) => each !== undefined));
