// The controls of a model, made from the options that the model itself declares.

/** The elements that say and set one option. */
function row(label, help, ...inputs) {
  const element = document.createElement("div");
  element.className = "control";
  const caption = document.createElement("label");
  caption.textContent = label;
  caption.title = help;
  caption.htmlFor = inputs[0].id;
  for (const input of inputs) {
    input.title = help;
    input.setAttribute("aria-description", help);
  }
  element.append(caption, ...inputs);
  return element;
}

function input(id, type, value) {
  const element = document.createElement("input");
  element.id = id;
  element.type = type;
  element.value = value;
  return element;
}

/** What an option is where it is not given: what its help has in parentheses at its end. */
export function defaultOf(option) {
  const found = /\(([^()]*)\)$/.exec(option.help);
  return found && found[1] !== "none" ? found[1] : "";
}

const nameOf = (option) => option.name.slice(2).replaceAll("-", " ");

/** Options of which one word is chosen: "c2c|r2c". */
const isChoice = (option) => /^[a-z0-9-]+(\|[a-z0-9-]+)+$/.test(option.value);
const isNumber = (option) => option.value === "N" && /^[0-9.e+]+$/.test(defaultOf(option));

/**
 * A field for any text, and a slider beside it: `place` of `range`, which has `min`, `max` and `step`, stands for
 * `textAt(place)`, and a text for `placeOf(text)`. `change` is called with each new text.
 */
export function sliderRow(name, help, text, range, placeOf, textAt, change) {
  const id = name.replaceAll(" ", "-");
  const field = input(`field-${id}`, "text", text);
  field.inputMode = "decimal";
  const slider = Object.assign(input(`slider-${id}`, "range", ""), range);
  slider.setAttribute("aria-label", name);
  const show = () => {
    slider.value = String(placeOf(field.value) || 0);
    slider.setAttribute("aria-valuetext", field.value);
  };
  show();
  slider.addEventListener("input", () => {
    field.value = textAt(Number(slider.value));
    slider.setAttribute("aria-valuetext", field.value);
    change(field.value);
  });
  field.addEventListener("input", () => {
    show();
    change(field.value);
  });
  return row(name, help, field, slider);
}

/** Whole numbers, the slider over factors of two; from 0 on where that is the default. */
function numberRow(option, text, change) {
  const first = Number(defaultOf(option)) === 0 ? 1 : 0; // the slider's place of 1
  const placeOf = (value) => (Number(value) <= 0 ? 0 : Math.round(Math.log2(Number(value))) + first);
  const textAt = (place) => String(place < first ? 0 : 2 ** (place - first));
  return sliderRow(nameOf(option), option.help, text, { min: 0, max: 20, step: 1 }, placeOf, textAt, change);
}

/** The points of a field, the slider over cubes. */
function sizeRow(option, text, change) {
  const placeOf = (value) => Math.round(Math.log2(Number(value.split("x")[0]) || 1));
  const textAt = (place) => Array(3).fill(2 ** place).join("x");
  return sliderRow(nameOf(option), option.help, text, { min: 4, max: 15, step: 1 }, placeOf, textAt, change);
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
  return row(nameOf(option), option.help, list);
}

/** Options that are asked for elsewhere on the page. */
const elsewhere = new Set(["--machine", "--set", "--sweep", "--solve", "--time"]);

/** Fills `place` with the controls of `model`; `change(name, text)` is called for each change. */
export function fillControls(place, model, machines, texts, change) {
  place.replaceChildren();
  for (const option of model.options) {
    if (elsewhere.has(option.name)) {
      continue;
    }
    const text = texts[option.name];
    const changed = (value) => change(option.name, value);
    if (option.value === "") {
      const box = input(`field${option.name}`, "checkbox", "on");
      box.checked = text !== undefined;
      box.addEventListener("change", () => changed(box.checked ? "" : undefined));
      place.append(row(nameOf(option), option.help, box));
    } else if (isChoice(option)) {
      place.append(choiceRow(option, option.value.split("|"), text, changed));
    } else if (option.value === "NAME|FILE") {
      place.append(choiceRow(option, machines, text, changed));
    } else if (isNumber(option) || option.value === "NXxNYxNZ") {
      const usual = defaultOf(option);
      const made = isNumber(option) ? numberRow : sizeRow;
      place.append(made(option, text ?? usual, (value) => changed(value === usual || value === "" ? undefined : value)));
    } else {
      const field = input(`field${option.name}`, "text", text ?? "");
      field.placeholder = defaultOf(option);
      field.addEventListener("input", () => changed(field.value === "" ? undefined : field.value));
      place.append(row(nameOf(option), option.help, field));
    }
  }
}
