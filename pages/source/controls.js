// The controls of a model, made from the options that the model itself declares.
import { ranges } from "./views.js";

/** The elements that say and set one option; `help` is said below its name. */
function row(label, help, ...inputs) {
  const element = document.createElement("div");
  element.className = "control";
  const caption = document.createElement("label");
  caption.textContent = label;
  caption.htmlFor = inputs[0].id;
  element.append(caption, ...inputs);
  if (help !== "") {
    const text = document.createElement("p");
    text.className = "help";
    text.id = `help-${inputs[0].id}`;
    text.textContent = help;
    inputs.forEach((input) => input.setAttribute("aria-describedby", text.id));
    element.append(text);
  }
  return element;
}

function input(id, type, value) {
  const element = document.createElement("input");
  element.id = id;
  element.type = type;
  element.value = value;
  return element;
}

/** What an option is where it is not given: what its help has in parentheses at its end, unless it may be "none". */
function defaultOf(option) {
  const usual = /\(([^()]*)\)$/.exec(option.help)?.[1] ?? "";
  return usual === "none" && !option.value.split("|").includes("none") ? "" : usual;
}

const nameOf = (option) => option.name.slice(2).replaceAll("-", " ");

/** The help of an option where it says more than its name does. */
function helpOf(option) {
  const help = option.help.replace(/ \([^()]*\)$/, "");
  return help.toLowerCase() === nameOf(option).toLowerCase() ? "" : help;
}

/** Options of which one word is chosen: "c2c|r2c". */
const isChoice = (option) => /^[a-z0-9-]+(\|[a-z0-9-]+)+$/.test(option.value);
const isNumber = (option) => (option.value === "N" || option.value === "X") && /^[0-9.e+-]+$/.test(defaultOf(option));

/**
 * The places of a slider and the texts that they stand for: `min`, `max` and `step`; `placeOf(text)`, `textAt(place)`.
 */
const slides = {
  /** The powers of two from `first` to `last`, and 0 before them where `hasZero`. */
  powers(first, last, hasZero) {
    const low = Math.floor(Math.log2(first));
    const zero = low - 1;
    return {
      min: hasZero ? zero : low,
      max: Math.max(low + 1, Math.ceil(Math.log2(last))),
      step: 1,
      placeOf: (text) => (Number(text) > 0 ? Math.round(Math.log2(Number(text))) : zero),
      textAt: (place) => String(hasZero && place === zero ? 0 : 2 ** place),
    };
  },
  steps({ min, max, step = 1 }) {
    return { min, max, step, placeOf: Number, textAt: (place) => String(Number(place.toFixed(6))) };
  },
  /** 0, and behind it from `min` to `max` by factors. */
  parts({ min, max }) {
    const count = 60;
    const factor = (max / min) ** (1 / count);
    return {
      min: -1,
      max: count,
      step: 1,
      placeOf: (text) => (Number(text) > 0 ? Math.round(Math.log(Number(text) / min) / Math.log(factor)) : -1),
      textAt: (place) => String(place < 0 ? 0 : Number((min * factor ** place).toPrecision(2))),
    };
  },
  /** From a quarter of a value to four times it. */
  around(value) {
    const isWhole = Number.isInteger(value);
    return {
      min: -2,
      max: 2,
      step: isWhole && value < 64 ? 1 : 0.125,
      placeOf: (text) => Math.log2(Number(text) / value),
      textAt(place) {
        const changed = value * 2 ** place;
        return String(isWhole ? Math.max(1, Math.round(changed)) : Number(changed.toPrecision(4)));
      },
    };
  },
  cubes: {
    min: 4,
    max: 15,
    step: 1,
    placeOf: (text) => Math.round(Math.log2(Number(text.split("x")[0]) || 1)),
    textAt: (place) =>
      Array(3)
        .fill(2 ** place)
        .join("x"),
  },
};

/** A field for any text, and a slider beside it. `change` is called with each new text. */
function sliderRow(name, help, text, slide, change) {
  const id = name.replaceAll(" ", "-");
  const field = input(`field-${id}`, "text", text);
  field.inputMode = "decimal";
  const slider = input(`slider-${id}`, "range", "");
  slider.min = slide.min;
  slider.max = slide.max;
  slider.step = slide.step;
  slider.setAttribute("aria-label", `${name}, a slider`);
  const show = () => {
    slider.value = String(slide.placeOf(field.value) || 0);
    slider.setAttribute("aria-valuetext", field.value);
  };
  show();
  slider.addEventListener("input", () => {
    field.value = slide.textAt(Number(slider.value));
    slider.setAttribute("aria-valuetext", field.value);
    change(field.value);
  });
  field.addEventListener("input", () => {
    show();
    change(field.value);
  });
  return row(name, help, field, slider);
}

function slideOf(option, machine) {
  const range = ranges[option.name];
  if (range !== undefined) {
    return slides[range.kind](range);
  }
  const nodes = option.name === "--nodes" ? machine?.numbers.count : undefined;
  return slides.powers(1, nodes ?? 2 ** 20, Number(defaultOf(option)) === 0);
}

function choiceRow(option, choices, text, change) {
  const list = document.createElement("select");
  list.id = `field${option.name}`;
  const usual = defaultOf(option);
  const all = choices.includes(usual) ? choices : ["", ...choices];
  for (const choice of all) {
    list.add(new Option(choice === "" ? usual || "none" : choice, choice));
  }
  list.value = text ?? (choices.includes(usual) ? usual : "");
  list.addEventListener("change", () => change(list.value === "" || list.value === usual ? undefined : list.value));
  return row(nameOf(option), helpOf(option), list);
}

function flagRow(option, text, change) {
  const box = input(`field${option.name}`, "checkbox", "on");
  box.checked = text !== undefined;
  box.addEventListener("change", () => change(box.checked ? "" : undefined));
  return row(nameOf(option), helpOf(option), box);
}

function textRow(option, text, change) {
  const field = input(`field${option.name}`, "text", text ?? "");
  field.placeholder = defaultOf(option);
  field.addEventListener("input", () => change(field.value === "" ? undefined : field.value));
  return row(nameOf(option), helpOf(option), field);
}

/** The control of an option, and whether it is one of those that are changed most. */
function rowOf(option, described, machine, text, changed) {
  const usual = defaultOf(option);
  if (isNumber(option) || option.value === "NXxNYxNZ") {
    const slide = isNumber(option) ? slideOf(option, machine) : slides.cubes;
    const changedFrom = (value) => changed(value === usual || value === "" ? undefined : value);
    return [sliderRow(nameOf(option), helpOf(option), text ?? usual, slide, changedFrom), true];
  }
  if (option.value === "") {
    return [flagRow(option, text, changed), false];
  }
  if (option.value === "NAME|FILE") {
    return [choiceRow(option, Object.keys(described.machines), text, changed), true];
  }
  if (option.value === "NAME" && machine?.transports.length > 0) {
    return [choiceRow(option, machine.transports, text, changed), true];
  }
  if (isChoice(option)) {
    const words = option.value.split("|");
    return [choiceRow(option, words, text, changed), words.includes(usual)];
  }
  return [textRow(option, text, changed), false];
}

/** Hides the controls in `place` that set numbers of the model of which none is among `reads`: they would do nothing. */
export function hideUnread(place, reads) {
  for (const made of place.querySelectorAll("[data-keys]")) {
    const keys = made.dataset.keys.split(" ").filter((key) => key !== "");
    made.hidden = keys.length > 0 && !keys.some((key) => reads.includes(key));
  }
}

/** Options that are asked for elsewhere on the page. */
const elsewhere = new Set(["--machine", "--set", "--sweep", "--solve", "--time", "--fit"]);

/**
 * Fills `front` with the controls of what is changed most, sliders and choices, and `more` with the others.
 * `described` has the machines and `machine` is the first one's; `change(name, text)` is called for each change.
 */
export function fillControls(front, more, model, described, machine, texts, change) {
  front.replaceChildren();
  more.replaceChildren();
  const choices = [];
  for (const option of model.options.filter(({ name }) => !elsewhere.has(name))) {
    const [made, isFront] = rowOf(option, described, machine, texts[option.name], (value) =>
      change(option.name, value),
    );
    made.dataset.keys = option.keys.join(" ");
    if (!isFront) {
      more.append(made);
    } else if (made.querySelector("select") === null) {
      front.append(made);
    } else {
      choices.push(made);
    }
  }
  front.append(...choices);
}

/**
 * A slider for each of `numbers` (values by key), set by --set: `texts` are those set. Numbers of `far` go over many
 * powers of two, the others from a quarter to four times.
 */
export function fillNumbers(place, numbers, far, texts, change) {
  place.replaceChildren();
  for (const [key, value] of Object.entries(numbers)) {
    const slide = key in far ? slides.powers(far[key][0], far[key][1], false) : slides.around(value);
    const changed = (text) => change(key, text === "" || Number(text) === value ? undefined : text);
    place.append(sliderRow(key, "", texts[key] ?? String(value), slide, changed));
  }
}
