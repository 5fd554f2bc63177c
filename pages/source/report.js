// The page of a run, or of several beside each other: `penstock ... --report` and `penstock compare`.
import { compareSections } from "./comparison.js";
import { chartsOf } from "./chart_figures.js";
import { make } from "./elements.js";
import { fftSections } from "./fft_report.js";
import * as others from "./other_reports.js";
import { schemas } from "./schemas.js";
import { section } from "./sections.js";
import { listsOf, listTables, numbersTable } from "./tables.js";
import { drawTimeline } from "./timeline.js";

const views = {
  fft: fftSections,
  "fft-files": others.filesSections,
  "fft-device": others.deviceSections,
  "gemm-ranks": others.gemmSections,
  "gemm-device": others.deviceProductSections,
  "gemm-files": others.filesSections,
  "nas-ft": others.nasSections,
  "bench-gemm": others.waysSections,
  "bench-gemm-files": others.waysSections,
  "bench-pack": others.packSections,
  "bench-latency": others.messagesSections,
  "bench-bandwidth": others.messagesSections,
  "bench-exchange": others.messagesSections,
  calibrate: others.calibrateSections,
  reproduce: others.reproduceSections,
  try: others.trySections,
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
  return section(
    "The command that repeats this",
    "",
    make("pre", { tabindex: "0" }, command),
    make("div", { class: "buttons" }, copy),
  );
}

const run = JSON.parse(document.getElementById("run").textContent);
document.title = titleOf(run);
document.getElementById("title").textContent = titleOf(run);
document.getElementById("origin").textContent = `${run.host}, ${run.written}, Penstock ${run.version}`;
const view = views[run.schema] ?? others.modelSections;
const timeline = run.details?.timeline ?? undefined;
const timelinePlace = timeline === undefined ? undefined : make("div", { id: "timeline" });
const timelineSection = section(
  "The timeline",
  "What each thread of each rank did in the best repetition, and for whom it waited. Zoom with the wheel or + and -.",
  timelinePlace,
);
const sections = [...view(run), timelineSection, ...commonSections(run), commandSection(run.command)];
document.getElementById("report").append(...sections.filter((each) => each !== undefined));
if (timeline !== undefined) {
  drawTimeline(timelinePlace, timeline); // it takes the width that its place has
}
