// The page to explore machines and models: `penstock explore`.
import { draw, fileOf } from "./chart.js";
import { fillControls, sliderRow } from "./controls.js";
import { loadModels } from "./models.js";
import { addressOf, argumentsOf, commandOf, questionOf } from "./question.js";
import { textOf } from "./units.js";

const $ = (id) => document.getElementById(id);

const titles = {
  fft: "Transform",
  gemm: "Multiply",
  pingpong: "Messages",
  plan: "Plan",
  project: "Years to come",
  scaling: "Laws of scaling",
  topology: "Network",
};

let models; // that answer
let described; // models and machines
let question = questionOf(location.hash);
let drawn; // the curves on the page, for files
let isScheduled = false;

const modelOf = (name) => described.models.find((each) => each.name === name) ?? described.models[0];

/** A sweep where the question has none: over nodes where the model has such, else what the model has. */
function usualSweep(model) {
  if (model.default_sweep !== "") {
    return model.default_sweep;
  }
  const machine = described.machines[question.machines[0]];
  if ("nodes" in model.numbers && machine?.numbers.count > 1 && model.name !== "topology") {
    return `nodes=1..${machine.numbers.count}:x2`;
  }
  return model.name === "project" ? "year=2010..2030:+1" : "";
}

function download(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** The answers for each machine, or the sentence that says why there is none. */
function ask(model, sweep) {
  const machines = model.has_machine ? question.machines : [undefined];
  return machines.map((machine) => {
    const words = argumentsOf(question, model, machine, sweep);
    try {
      const answer = models.ask(model.name, words);
      return { machine, words, ...answer, points: JSON.parse(answer.json).points ?? [] };
    } catch (error) {
      return { machine, words, error: error.message };
    }
  });
}

function cell(text, name = "td") {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}

/** What a single point gives, a column for each machine. */
function showNumbers(answers) {
  const table = $("numbers");
  table.replaceChildren();
  const good = answers.filter((each) => each.points?.length > 0);
  const head = document.createElement("tr");
  head.append(cell("", "td"), ...answers.map((each) => cell(each.machine ?? "", "th")));
  table.append(head);
  const keys = [...new Set(good.flatMap((each) => Object.keys(each.keys)))];
  for (const key of keys) {
    const line = document.createElement("tr");
    const about = good.find((each) => key in each.keys).keys[key];
    line.append(cell(about.name.trim(), "th"));
    for (const each of answers) {
      const unit = about.unit === "text" ? "" : about.unit;
      line.append(cell(each.points?.length > 0 && key in each.points[0] ? textOf(each.points[0][key], unit) : "–"));
    }
    table.append(line);
  }
}

/** What twice of each resource gains: the longest bar is what bounds the time. */
function showGains(answers) {
  const place = $("gains");
  place.replaceChildren();
  for (const each of answers) {
    const gains = each.points?.[0]?.gain_of_twice;
    if (gains === undefined) {
      continue;
    }
    const title = document.createElement("h3");
    title.textContent = `${each.machine}: bound by ${each.points[0].bound_by.replaceAll("_", " ")}`;
    place.append(title);
    for (const [resource, factor] of Object.entries(gains)) {
      const bar = document.createElement("div");
      bar.className = "bar";
      const name = document.createElement("span");
      name.textContent = `twice the ${resource.replaceAll("_", " ")}`;
      const length = document.createElement("meter");
      length.min = 1;
      length.max = 2;
      length.value = factor;
      const value = document.createElement("span");
      value.textContent = `${factor.toFixed(2)} times faster`;
      length.setAttribute("aria-label", `${name.textContent}: ${value.textContent}`);
      bar.append(name, length, value);
      place.append(bar);
    }
  }
}

function showCurves(model, answers) {
  const good = answers.filter((each) => each.points?.length > 1);
  $("curves").hidden = good.length === 0;
  drawn = undefined;
  if (good.length === 0) {
    return;
  }
  const [first] = good;
  const x = first.points.map((point) => point[first.swept]);
  const keys = model.plotted.filter((key) => first.points.some((point) => point[key] > 0));
  const series = good.flatMap((each, machine) =>
    keys.map((key, colour) => ({
      name: good.length > 1 ? `${first.keys[key].name}, ${each.machine}` : first.keys[key].name,
      y: each.points.map((point) => point[key]),
      colour,
      machine,
      key,
    })),
  );
  const legend = $("legend");
  legend.replaceChildren();
  for (const each of series) {
    const item = document.createElement("li");
    item.className = `colour-${each.colour} machine-${each.machine}`;
    item.textContent = each.name;
    legend.append(item);
  }
  const marked = question.options[`--${first.swept}`] ?? question.changes[first.swept] ?? model.numbers[first.swept];
  const svg = draw($("chart"), {
    x,
    xName: first.swept,
    isGeometric: first.is_geometric,
    unit: first.keys[keys[0]]?.unit ?? "",
    series,
    marked: marked === undefined ? undefined : Number(marked),
  });
  drawn = { svg, x, swept: first.swept, series };
}

/** Answers that are no list of points: as their JSON says them. */
function showOther(answers) {
  const place = $("other");
  place.replaceChildren();
  for (const each of answers) {
    if (each.error !== undefined || each.points.length > 0) {
      continue;
    }
    const text = document.createElement("pre");
    text.textContent = each.json;
    place.append(text);
  }
}

function update() {
  isScheduled = false;
  const model = modelOf(question.model);
  const sweep = question.sweep || usualSweep(model);
  const single = ask(model, "");
  const swept = sweep === "" ? [] : ask(model, sweep);
  const failure = [...single, ...swept].find((each) => each.error !== undefined);
  $("error").textContent = failure?.error ?? "";
  $("error").hidden = failure === undefined;
  showNumbers(single);
  showGains(single);
  showCurves(model, swept);
  showOther(single);
  $("command").textContent = single.map((each) => commandOf(model.name, each.words)).join("\n");
  history.replaceState(null, "", addressOf(question));
}

function schedule() {
  if (!isScheduled) {
    isScheduled = true;
    requestAnimationFrame(update);
  }
}

function fillMachines() {
  const names = Object.keys(described.machines);
  for (const [i, id] of ["machine", "machine-beside"].entries()) {
    const list = $(id);
    list.replaceChildren();
    if (i === 1) {
      list.add(new Option("none", ""));
    }
    for (const name of names) {
      list.add(new Option(`${name} – ${described.machines[name].name}`, name));
    }
    list.value = question.machines[i] ?? "";
  }
}

/** Sliders over the numbers of the first machine: from a quarter to four times of each. */
function fillChanges(model) {
  const place = $("changes");
  place.replaceChildren();
  const machine = described.machines[question.machines[0]];
  $("machine-part").hidden = !model.has_machine;
  if (!model.has_machine || machine === undefined) {
    return;
  }
  for (const [key, value] of Object.entries(machine.numbers)) {
    const isWhole = Number.isInteger(value);
    const textAt = (place) => {
      const changed = value * 2 ** place;
      return String(isWhole ? Math.max(1, Math.round(changed)) : Number(changed.toPrecision(4)));
    };
    const change = (text) => {
      if (text === "" || Number(text) === value) {
        delete question.changes[key];
      } else {
        question.changes[key] = text;
      }
      schedule();
    };
    const range = { min: -2, max: 2, step: isWhole && value < 64 ? 1 : 0.125 };
    const placeOf = (text) => Math.log2(Number(text) / value);
    place.append(sliderRow(key, key, question.changes[key] ?? String(value), range, placeOf, textAt, change));
  }
}

function fillAll() {
  const model = modelOf(question.model);
  for (const tab of document.querySelectorAll("#models button")) {
    tab.setAttribute("aria-pressed", String(tab.value === model.name));
  }
  fillMachines();
  fillControls($("options"), model, Object.keys(described.machines), question.options, (name, text) => {
    if (text === undefined) {
      delete question.options[name];
    } else {
      question.options[name] = text;
    }
    schedule();
  });
  fillChanges(model);
  $("sweep").value = question.sweep;
  $("sweep").placeholder = usualSweep(model) || "KEY=A..B:xF";
  schedule();
}

async function takeFile(file) {
  try {
    const name = file.name.replace(/[^\w.-]/g, "_").replace(/(\.toml)?$/, ".toml");
    described.machines[name] = models.addMachine(name, await file.text());
    question.machines[0] = name;
    question.changes = {};
    fillAll();
  } catch (error) {
    $("error").textContent = error.message;
    $("error").hidden = false;
  }
}

function listen() {
  const places = $("models");
  for (const model of described.models) {
    const tab = document.createElement("button");
    tab.type = "button";
    tab.value = model.name;
    tab.textContent = titles[model.name] ?? model.name;
    tab.addEventListener("click", () => {
      question = { ...question, model: model.name, options: {}, changes: {}, sweep: "" };
      fillAll();
    });
    places.append(tab);
  }
  for (const [i, id] of ["machine", "machine-beside"].entries()) {
    $(id).addEventListener("change", () => {
      const [first] = question.machines;
      const chosen = $(id).value;
      question.machines = i === 0 ? [chosen, ...question.machines.slice(1)] : [first, chosen].filter((name) => name !== "");
      question.changes = i === 0 ? {} : question.changes;
      fillAll();
    });
  }
  $("sweep").addEventListener("input", () => {
    question.sweep = $("sweep").value;
    schedule();
  });
  $("file").addEventListener("change", () => $("file").files.length > 0 && takeFile($("file").files[0]));
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length > 0) {
      takeFile(event.dataTransfer.files[0]);
    }
  });
  $("save-svg").addEventListener("click", () => drawn && download(`penstock-${question.model}.svg`, "image/svg+xml", fileOf(drawn.svg)));
  $("save-csv").addEventListener("click", () => {
    if (drawn) {
      const rows = [[drawn.swept, ...drawn.series.map((each) => each.name)]];
      drawn.x.forEach((at, i) => rows.push([at, ...drawn.series.map((each) => each.y[i] ?? "")]));
      const quoted = (value) => (/[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
      download(`penstock-${question.model}.csv`, "text/csv", rows.map((each) => each.map(quoted).join(",")).join("\r\n"));
    }
  });
  $("copy-command").addEventListener("click", () => navigator.clipboard?.writeText($("command").textContent));
  addEventListener("hashchange", () => {
    question = questionOf(location.hash);
    fillAll();
  });
}

async function start() {
  models = await loadModels();
  described = models.describeAll();
  window.penstock = models; // for the browser's console
  listen();
  fillAll();
  $("page").hidden = false;
  $("loading").hidden = true;
}

start().catch((error) => {
  $("loading").textContent = `This browser cannot run the page: ${error.message}`;
});
