// The page to explore machines and models: `penstock explore`.
import {
  barTable,
  fillTable,
  fitTable,
  gainBars,
  good,
  keysOf,
  laneBars,
  numberTable,
  timeBars,
  verdicts,
} from "./answers.js";
import { oneAtATime, startModels } from "./asking.js";
import { drawBars } from "./bars.js";
import { fillControls, fillNumbers, hideUnread } from "./controls.js";
import { chartOf, groupName, groupsOf, showCurves, tableOf } from "./curves.js";
import { addFigure, csvOf, download } from "./figure.js";
import { addressOf, argumentsOf, commandOf, packed, questionOf, unpacked } from "./question.js";
import { keysToSweep, numbersOf, partsOf, rangeOf, usualSweep } from "./sweeps.js";
import { drawTopology } from "./topology.js";
import { textOf } from "./units.js";
import { firstAddress, kept, others, views } from "./views.js";

const $ = (id) => document.getElementById(id);

const now = startModels(); // that answer for what is set
const sweeping = startModels(); // that answer for curves, which take longer
let described; // models and machines
let question;
let reads; // the model's numbers on which the last answer depends; undefined before the first
let lastChart;
let lastFit;
let lastAnswers = [];

const modelOf = (name) => described.models.find((each) => each.name === name) ?? described.models[0];
const machineOf = (i) => described.machines[question.machines[i]];
const fileName = () => `penstock-${question.model}`;

const figures = {
  curves: addFigure($("figures"), "curves", "Over …", "", fileName),
  topology: addFigure($("figures"), "topology", "How the nodes are joined", "", fileName),
  lanes: addFigure(
    $("figures"),
    "lanes",
    "In place of the GPU-like machine",
    "Machines of this machine's nodes beside the GPU-like one: CPU-1 has its peak, CPU-2 its time, CPU-3 its time " +
      "where memory and network work at once. Bars are the times of memory and network.",
    fileName,
  ),
  times: addFigure(
    $("pair"),
    "times",
    "Where the time goes",
    "All times of one run. Bars that are set in are parts of the bar above them; what is hidden goes on behind the " +
      "computing and costs nothing.",
    fileName,
  ),
  gains: addFigure(
    $("pair"),
    "gains",
    "What twice as much would gain",
    "How many times faster a machine with twice of one resource would be, all else as it is. The longest bar is what " +
      "bounds.",
    fileName,
  ),
};

/** The question with a value for the key that the model sweeps where it is not given: one point, not a list. */
function pointQuestion(model) {
  const [key] = partsOf(model.default_sweep);
  return key === "" || key in question.changes
    ? question
    : { ...question, changes: { ...question.changes, [key]: String(model.numbers[key]) } };
}

/** The arguments for each machine. */
function wordsOf(asked, model, sweep, without) {
  const machines = model.has_machine ? question.machines : [undefined];
  return machines.map((machine) => ({ machine, words: argumentsOf(asked, model, machine, sweep, without) }));
}

/** The answers, each with its points, or the sentence that says why there are none. */
function askAll(models, model, list, hasGains) {
  return Promise.all(
    list.map(async ({ machine, words }) => {
      try {
        const answer = await models.ask(model.name, words, hasGains);
        return { machine, words, ...answer, points: JSON.parse(answer.json).points ?? [] };
      } catch (error) {
        return { machine, words, error: error.message, points: [] };
      }
    }),
  );
}

const errors = { now: "", sweeping: "" };

/** Says why there is no answer; both kinds of questions mostly fail alike. */
function showError(place, answers) {
  errors[place] = answers.find((each) => each.error !== undefined)?.error ?? "";
  $("error").textContent = errors.now || errors.sweeping;
  $("error").hidden = $("error").textContent === "";
}

/** The model's numbers that count here and have no option: sliders that set them. */
function showNumbersOfModel(model, answers) {
  const found = [...new Set(good(answers).flatMap((each) => each.reads))];
  if (reads !== undefined && (found.length === 0 || JSON.stringify(found) === JSON.stringify(reads))) {
    return;
  }
  reads = found;
  hideUnread($("options"), reads);
  hideUnread($("more"), reads);
  const ofOptions = new Set(model.options.flatMap((option) => option.keys));
  const numbers = Object.entries(model.numbers).filter(
    ([key, value]) => reads.includes(key) && !ofOptions.has(key) && value > 0,
  );
  const far = {};
  const [key, range] = partsOf(model.default_sweep);
  if (key !== "") {
    far[key] = range.split(":")[0].split("..").map(Number);
  }
  fillNumbers($("numbers-of-model"), Object.fromEntries(numbers), far, question.changes, change);
  fillSwept(model);
  answerCurves();
}

function showVerdicts(model, answers) {
  const lines = verdicts(answers, views[model.name].headline).map(({ machine, text }) => {
    const line = document.createElement("li");
    if (machine !== undefined) {
      const name = document.createElement("strong");
      name.textContent = `${machine}: `;
      line.append(name);
    }
    line.append(text);
    return line;
  });
  $("verdict").replaceChildren(...lines);
}

function showBars(figure, rows, names, from, to) {
  if (rows.length === 0) {
    figure.hide();
    return;
  }
  figure.show(
    [rows, names],
    (place, width) => {
      drawBars(place, width, { rows, from, to });
      const items =
        names.length < 2
          ? []
          : names.map((name, i) =>
              Object.assign(document.createElement("li"), { className: `colour-${i} machine-0`, textContent: name }),
            );
      const legend = Object.assign(document.createElement("ul"), { className: "legend" });
      legend.append(...items);
      figure.below.replaceChildren(...(items.length > 0 ? [legend] : []));
    },
    () => barTable(rows, names),
  );
}

function showTopology(model, answers) {
  const [first] = good(answers);
  if (model.name !== "topology" || first === undefined) {
    figures.topology.hide();
    return;
  }
  const [point] = first.points;
  const network = {
    kind: point.topology,
    nodes: point.nodes,
    shape: point.shape === "" ? [] : point.shape.split("x").map(Number),
    parts: point.parts,
    perLeaf: described.machines[first.machine]?.numbers["network.nodes_per_leaf"],
  };
  const rate = textOf(point.bisection_bytes_per_s, "B/s");
  const links = `${textOf(point.bisection_links, "")} links, together ${rate} in each direction`;
  const cut = `The red links are those between two halves of the nodes, the bisection: ${links}.`;
  figures.topology.show(
    [network, cut],
    (place, width) => {
      const words = drawTopology(place, width, network);
      figures.topology.below.textContent = `${words} ${point.bisection_links > 0 && point.nodes > 1 ? cut : ""}`;
    },
    () => numberTable([first], true),
    { title: `How the nodes of ${first.machine} are joined: ${point.topology.replace("-", " ")}` },
  );
}

/** Answers of another kind than points: the machines of Figure 5, and the fit of measured speedups. */
async function showOthers(model) {
  const option = others[model.name];
  if (option === undefined || question.options[option] === undefined) {
    figures.lanes.hide();
    $("fitted").hidden = true;
    lastFit = undefined;
    return [];
  }
  const swept = model.default_sweep.split("=")[0];
  const asked = {
    ...question,
    changes: Object.fromEntries(Object.entries(question.changes).filter(([key]) => key !== swept)),
  };
  const answers = await askAll(now, model, wordsOf(asked, model, ""));
  const told = answers
    .filter((each) => each.error === undefined)
    .map((each) => ({ ...each, other: JSON.parse(each.json) }));
  const fit = told.find((each) => each.other.relative_error !== undefined);
  if (JSON.stringify(lastFit) !== JSON.stringify(fit?.other)) {
    lastFit = fit?.other;
    answerCurves();
  }
  $("fitted").hidden = fit === undefined;
  if (fit !== undefined) {
    fillTable($("fit-table"), fitTable(lastFit, false));
  }
  const lanes = told.filter((each) => each.other.lanes !== undefined);
  showBars(figures.lanes, laneBars(lanes), ["memory", "network"], 0, 0);
  return answers;
}

let busy = 0; // how many kinds of questions are being answered

/** `oneAtATime`, by which those who cannot see the page, and tests, learn whether it is still changing. */
function answering(work) {
  return oneAtATime(async () => {
    busy += 1;
    $("page").setAttribute("aria-busy", "true");
    try {
      await work();
    } finally {
      busy -= 1;
      $("page").setAttribute("aria-busy", String(busy > 0));
    }
  });
}

const answerNow = answering(async () => {
  const model = modelOf(question.model);
  const without = [others[model.name]];
  const answers = await askAll(now, model, wordsOf(pointQuestion(model), model, "", without), true);
  const rest = await showOthers(model);
  if (model.name !== question.model) {
    return;
  }
  lastAnswers = answers;
  showError("now", [...answers, ...rest]);
  showNumbersOfModel(model, answers);
  showVerdicts(model, answers);
  const names = good(answers).map((each) => each.machine ?? "");
  showBars(figures.times, timeBars(answers), names, 0, 0);
  showBars(figures.gains, gainBars(answers), names, 1, 2);
  showTopology(model, answers);
  fillTable($("numbers"), numberTable(answers, false));
  showCommands(model, [...answers, ...rest]);
});

/** The value of a key as it is set, or as it is. */
function valueOf(model, key) {
  const option = model.options.find((each) => each.keys.length === 1 && each.keys[0] === key);
  const value =
    question.changes[key] ??
    (option && question.options[option.name]) ??
    model.numbers[key] ??
    machineOf(0)?.numbers[key];
  return key === "nodes" && Number(value) === 0 ? machineOf(0)?.numbers.count : Number(value);
}

/** Sets a key by its option, where it has one, else by --set. */
function setValue(model, key, text) {
  const option = model.options.find((each) => each.value === "N" && each.keys[0] === key);
  if (option !== undefined) {
    question.options[option.name] = text;
  } else {
    question.changes[key] = text;
  }
  fillAll();
}

/** Measured speedups as series, and the law that fits them. */
async function fittedSeries(model, sweep) {
  const measured = question.options["--fit"];
  if (model.name !== "scaling" || measured === undefined) {
    return [];
  }
  const points = measured.split(",").map((each) => each.split(":").map(Number));
  const series = [
    {
      name: "measured",
      x: points.map(([at]) => at),
      y: points.map(([, value]) => value),
      isMeasured: true,
      colour: 1,
      machine: 0,
    },
  ];
  if (lastFit === undefined) {
    return series;
  }
  const asked = { ...question, options: { ...question.options, ...optionsOf(lastFit) } };
  const [answer] = await askAll(sweeping, model, wordsOf(asked, model, sweep, ["--fit"]), false);
  const y = answer.points.map((point) => point.speedup);
  return answer.error === undefined ? [...series, { name: "fitted", y, colour: 1, machine: 1 }] : series;
}

/** The options that a fit stands for. */
function optionsOf(fit) {
  const text = (estimate) => (estimate === undefined ? undefined : String(Math.max(0, estimate.value)));
  const options = {
    "--serial": text(fit.serial),
    "--kappa": text(fit.kappa ?? fit.kappa_plus_lambda),
    "--lambda": fit.kappa_plus_lambda ? "0" : text(fit.lambda),
  };
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

const answerCurves = answering(async () => {
  if (reads === undefined) {
    return; // what to sweep is not known yet
  }
  const model = modelOf(question.model);
  const sweep = question.sweep || usualSweep(model, machineOf(0), reads ?? []);
  const [swept] = partsOf(sweep);
  const answers =
    sweep === "" ? [] : await askAll(sweeping, model, wordsOf(question, model, sweep, [others[model.name]]), false);
  const more = await fittedSeries(model, sweep);
  if (model.name !== question.model) {
    return;
  }
  showError("sweeping", answers);
  if (!answers.some((each) => each.points.length > 1)) {
    figures.curves.hide();
    $("curve-numbers").hidden = true;
    lastChart = undefined;
    return;
  }
  const about = keysOf(answers);
  const groups = groupsOf(answers, model.plotted);
  const group = groups.has(question.shown) ? question.shown : "";
  fillShown(groups, group, about);
  const keys = groups.get(group);
  lastChart = chartOf(answers, keys, swept, valueOf(model, swept), keys.includes("speedup") ? more : []);
  const title = `${groupName(keys, group, about)} over ${swept.replaceAll("_", " ")}`;
  const words = {
    title: title[0].toUpperCase() + title.slice(1),
    note: "The dotted line is what is set; point at the curves for their values, click to set another.",
  };
  showCurves(figures.curves, lastChart, words, (at) => setValue(model, swept, String(at)));
  $("curve-numbers").hidden = false;
  showCurveTable();
});

function showCurveTable() {
  if ($("curve-numbers").open && lastChart !== undefined) {
    const [head, ...rows] = tableOf(lastChart);
    const texts = rows.map(([at, ...values]) => [
      textOf(at, lastChart.xUnit),
      ...values.map((value) => (value === "" ? "" : textOf(value, lastChart.unit))),
    ]);
    fillTable($("curve-table"), [head, ...texts]);
  }
}

/** The numbers that curves may show, as a list to choose from. */
function fillShown(groups, group, about) {
  const list = $("shown");
  const entries = [...groups].map(([key, keys]) => [key, groupName(keys, key, about)]);
  const key = JSON.stringify(entries);
  if (list.dataset.entries !== key) {
    list.dataset.entries = key;
    list.replaceChildren(...entries.map(([value, text]) => new Option(text, value)));
  }
  list.value = group;
}

function showCommands(model, answers) {
  const sweep = question.sweep || usualSweep(model, machineOf(0), reads ?? []);
  const lines = answers.map((each) => commandOf(model.name, each.words));
  if (sweep !== "") {
    lines.push(
      "# the curves",
      ...wordsOf(question, model, sweep, [others[model.name]]).map(({ words }) => commandOf(model.name, words)),
    );
  }
  $("command").textContent = lines.join("\n");
}

let saving;

/** Keeps the question in the address, soon: browsers allow few changes a second. */
function keepAddress() {
  clearTimeout(saving);
  saving = setTimeout(() => history.replaceState(null, "", addressOf(question)), 200);
}

function ask() {
  answerNow();
  answerCurves();
  keepAddress();
}

function change(key, text) {
  if (text === undefined) {
    delete question.changes[key];
  } else {
    question.changes[key] = text;
  }
  ask();
}

function changeOption(name, text) {
  if (text === undefined) {
    delete question.options[name];
  } else {
    question.options[name] = text;
  }
  ask();
}

function fillMachines() {
  for (const [i, id] of ["machine", "machine-beside"].entries()) {
    const list = $(id);
    list.replaceChildren();
    if (i === 1) {
      list.add(new Option("none", ""));
    }
    for (const [name, machine] of Object.entries(described.machines)) {
      list.add(new Option(name === machine.name ? name : `${name}: ${machine.name}`, name));
    }
    list.value = question.machines[i] ?? "";
  }
}

/** The list of what curves may be over, and the range. */
function fillSwept(model) {
  const sweep = question.sweep || usualSweep(model, machineOf(0), reads ?? []);
  const [swept, range] = partsOf(sweep);
  const keys = new Set([swept, ...keysToSweep(model, machineOf(0), reads ?? [])].filter((key) => key !== ""));
  $("swept").replaceChildren(...[...keys].map((key) => new Option(key.replaceAll("_", " "), key)));
  $("swept").value = swept;
  $("range").value = range;
}

function fillAll() {
  const model = modelOf(question.model);
  const view = views[model.name];
  for (const tab of document.querySelectorAll("#models button")) {
    tab.setAttribute("aria-pressed", String(tab.value === model.name));
  }
  $("title").textContent = view.title;
  $("about").textContent = view.about;
  const links = view.examples.map(([text, address]) =>
    Object.assign(document.createElement("a"), { textContent: text, href: `#${address}` }),
  );
  $("examples").replaceChildren("Try: ", ...links.flatMap((link, i) => (i === 0 ? [link] : [" · ", link])));
  $("machine-part").hidden = !model.has_machine;
  fillMachines();
  fillControls(
    $("options"),
    $("more"),
    model,
    described,
    model.has_machine ? machineOf(0) : undefined,
    question.options,
    changeOption,
  );
  $("more-part").hidden = $("more").children.length === 0;
  const machine = machineOf(0);
  const isWithoutMachine = !model.has_machine || machine === undefined;
  fillNumbers(
    $("changes"),
    isWithoutMachine ? {} : Object.fromEntries(numbersOf(machine)),
    {},
    question.changes,
    change,
  );
  reads = undefined;
  $("numbers-of-model").replaceChildren();
  $("measured-part").hidden = model.name !== "scaling";
  $("measured").value = (question.options["--fit"] ?? "").replaceAll(",", "\n").replaceAll(":", ",");
  fillSwept(model);
  ask();
}

/** "1:1,2:1.9" of lines of workers and speedup, the first of which may be headings. */
function measuredOf(text) {
  const lines = text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const pairs = lines.map((line) => line.split(/[\s,;:]+/));
  const isHeading = pairs.length > 0 && Number.isNaN(Number(pairs[0][0]));
  return pairs
    .slice(isHeading ? 1 : 0)
    .map((pair) => pair.slice(0, 2).join(":"))
    .join(",");
}

/** The machine of a machine file's text, known to all who answer. */
async function addMachine(name, text) {
  const [machine] = await Promise.all([now.addMachine(name, text), sweeping.addMachine(name, text)]);
  described.machines[name] = machine;
}

async function takeFile(file) {
  try {
    if (/\.(csv|txt|tsv)$/i.test(file.name)) {
      changeModel("scaling");
      question.options["--fit"] = measuredOf(await file.text());
    } else {
      const name = file.name.replace(/[^\w.-]/g, "_").replace(/(\.toml)?$/, ".toml");
      const text = await file.text();
      await addMachine(name, text);
      question.files[name] = await packed(text);
      question.machines[0] = name;
      question.changes = {};
    }
    fillAll();
  } catch (error) {
    $("error").textContent = error.message;
    $("error").hidden = false;
  }
}

function changeModel(name) {
  if (name === question.model) {
    return;
  }
  const taken = Object.entries(question.options).filter(([option]) => kept.includes(option));
  question = {
    ...question,
    model: name,
    options: { ...views[name].starts, ...Object.fromEntries(taken) },
    changes: { ...views[name].changes },
    sweep: "",
    shown: "",
  };
}

/** Takes up the question of the page's address. */
async function readAddress() {
  const asked = questionOf(location.hash.length > 1 ? location.hash : firstAddress);
  for (const [name, letters] of Object.entries(asked.files)) {
    try {
      await addMachine(name, await unpacked(letters));
    } catch (error) {
      $("error").textContent = error.message; // the question fails as well, and says that there is no such machine
    }
  }
  question = asked;
  fillAll();
}

function listenToMachines() {
  for (const [i, id] of ["machine", "machine-beside"].entries()) {
    $(id).addEventListener("change", () => {
      const [first] = question.machines;
      const chosen = $(id).value;
      question.machines =
        i === 0 ? [chosen, ...question.machines.slice(1)] : [first, chosen].filter((name) => name !== "");
      question.changes = i === 0 ? {} : question.changes;
      fillAll();
    });
  }
  $("file").addEventListener("change", () => $("file").files.length > 0 && takeFile($("file").files[0]));
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length > 0) {
      takeFile(event.dataTransfer.files[0]);
    }
  });
}

function listenToCurves() {
  $("swept").addEventListener("change", () => {
    const model = modelOf(question.model);
    const key = $("swept").value;
    question.sweep = `${key}=${rangeOf(key, valueOf(model, key), model, machineOf(0))}`;
    question.sweep = question.sweep === usualSweep(model, machineOf(0), reads ?? []) ? "" : question.sweep;
    fillSwept(model);
    ask();
  });
  $("range").addEventListener("input", () => {
    question.sweep = `${$("swept").value}=${$("range").value}`;
    ask();
  });
  $("shown").addEventListener("change", () => {
    question.shown = $("shown").value;
    ask();
  });
  $("curve-numbers").addEventListener("toggle", showCurveTable);
  $("measured").addEventListener("input", () => changeOption("--fit", measuredOf($("measured").value) || undefined));
}

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    $("copied").textContent = `${what} copied.`;
  } catch {
    $("copied").textContent = "This browser does not let the page copy: mark the text instead.";
  }
}

function listenToButtons() {
  $("save-numbers").addEventListener("click", () =>
    download(`${fileName()}-numbers.csv`, "text/csv", csvOf(numberTable(lastAnswers, true))),
  );
  $("save-fit").addEventListener("click", () =>
    download(`${fileName()}-fit.csv`, "text/csv", csvOf(fitTable(lastFit, true))),
  );
  $("take-fit").addEventListener("click", () => {
    Object.assign(question.options, optionsOf(lastFit));
    fillAll();
  });
  $("copy-command").addEventListener("click", () => copy($("command").textContent, "The commands are"));
  $("copy-address").addEventListener("click", () => {
    history.replaceState(null, "", addressOf(question));
    copy(location.href, "The link is");
  });
}

function listen() {
  for (const model of described.models) {
    const tab = Object.assign(document.createElement("button"), {
      type: "button",
      value: model.name,
      textContent: views[model.name].title,
    });
    tab.addEventListener("click", () => {
      changeModel(model.name);
      fillAll();
    });
    $("models").append(tab);
  }
  listenToMachines();
  listenToCurves();
  listenToButtons();
  addEventListener("hashchange", readAddress);
}

async function start() {
  described = await now.describeAll();
  window.penstock = now; // for the browser's console
  listen();
  $("page").hidden = false;
  $("loading").hidden = true;
  await readAddress();
}

start().catch((error) => {
  $("loading").textContent = `This browser cannot run the page: ${error.message}`;
});
