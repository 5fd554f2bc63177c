// The report of `penstock fft`.
import { gainBars, stackedBars } from "./stacked_bars.js";
import { drawBoxes, exchangeFigure } from "./boxes.js";
import { make } from "./elements.js";
import { quantityText } from "./quantities.js";
import { rooflineFigure } from "./roofline.js";
import { headline, keyed, mostRanksOfBars, percent, section } from "./sections.js";
import { makeTable } from "./tables.js";

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
    "The best repetition, mean of all ranks and threads. Moving is what copies take beside transforms; waiting is for " +
      "other ranks; the rest is starting threads and their waiting for one another.",
    stackedBars(["transform", "move", "wait", "other"], rows, "s"),
  );
}

function fftPrediction(result, details) {
  const rows = [{ name: "measured", parts: partsOf(result.forward_breakdown) }];
  if (result.predicted_s !== null) {
    const parts = [
      result.predicted_transform_s,
      result.predicted_move_s,
      result.predicted_message_s,
      result.predicted_start_s,
    ];
    rows.unshift({ name: "predicted", parts });
  }
  if (result.limit_s > 0) {
    rows.push({
      name: "limit",
      parts: [result.limit_s, 0, 0, 0],
      note: result.limit_memory_s > result.limit_arithmetic_s ? "(memory)" : "(arithmetic)",
    });
  }
  const off = Math.round(100 * result.prediction_error);
  const words =
    result.predicted_s === null
      ? `Nothing was predicted: ${details.why_not_predicted}.`
      : `The model is ${Math.abs(off)} % ${off < 0 ? "below" : "above"} the measurement; bound by ${result.predicted_bound_by}.`;
  const possible = "The limit is the least time that the memory's bandwidth and the arithmetic allow.";
  const gains =
    Object.keys(details.gains.factors).length === 0
      ? []
      : [make("h3", {}, `What twice of each resource makes of ${details.gains.of}`), gainBars(details.gains.factors)];
  return section(
    "Measured, predicted, possible",
    `${words} ${possible}`,
    stackedBars(["transform", "move", "messages or waiting", "start or other"], rows, "s"),
    ...gains,
  );
}

function rankBars(ranks) {
  if (ranks.length === 1) {
    return undefined;
  }
  const all = ranks.map((rank, i) => {
    const sums = rank.stages.reduce(
      ([g, t, s, w], each) => [g + each[0], t + each[1], s + each[2], w + each[3]],
      [0, 0, 0, 0],
    );
    const rest = Math.max(0, rank.total_s - sums.reduce((a, b) => a + b, 0));
    return { name: `rank ${i}`, parts: [sums[1], sums[0] + sums[2], sums[3], rest], waited_s: sums[3] };
  });
  const last = all.reduce((a, b) => (b.waited_s < a.waited_s ? b : a));
  return section(
    "Ranks",
    `Forward, the best repetition. Even work is bars alike. Of all, ${last.name} waited least: the others wait for it.`,
    stackedBars(["transform", "move", "wait", "other"], all.slice(0, mostRanksOfBars), "s"),
  );
}

function fftPlan(result, details) {
  const figure = (boxes, title) => make("figure", {}, drawBoxes(boxes, title), make("figcaption", {}, title));
  const figures = details.stages.map((stage, i) =>
    figure(stage.boxes, `${i + 1}. ${stage.name === "move" ? "move" : `transform along ${stage.name}`}`),
  );
  figures.push(figure(details.output, "the spectrum"));
  const passes = `${result.passes} pass${result.passes === 1 ? "" : "es"} over memory`;
  const words =
    `A grid of ${result.grid.join(" × ")} ranks, ${passes}. Each colour is a rank and the box of points that it holds ` +
    "before a stage. Between stages whose boxes differ, ranks exchange what they do not have.";
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
    "Bytes of one field from the rank of the row to the rank of the column; the darker, the more. What a rank keeps is " +
      "outlined.",
    make("div", { class: "figures" }, ...figures),
  );
}

function machineTable(result, details) {
  const rows = [
    ["name", result.machine],
    ["cores of a node", String(details.cores)],
    ["last-level cache", quantityText("cache_bytes", details.cache_bytes)],
    ["memory, all ranks together", quantityText("bytes_per_s", result.memory_bandwidth_bytes_per_s)],
    ["1-D transforms in cache, all ranks together", quantityText("fft_rate_gflops", result.fft_rate_gflops)],
    ["vector instructions", result.isa],
  ];
  return section("The machine", `Its rates: ${result.machine_source}.`, makeTable(["", ""], rows));
}

/** Of a transform in memory. */
export function fftSections({ result, details }) {
  const fraction =
    result.fraction_of_limit === null || result.limit_s === 0 ? undefined : percent(result.fraction_of_limit);
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
    machineTable(result, details),
  ];
}
