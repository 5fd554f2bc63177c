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
 * A slider over factors of two from 1 on, and a field beside it for any number. `change` is called with the text, or
 * undefined for the default.
 */
function numberRow(option, text, change) {
  const usual = defaultOf(option);
  const lowest = Number(usual) === 0 ? 0 : 1;
  const field = input(`field${option.name}`, "text", text ?? usual);
  field.inputMode = "numeric";
  const slider = input(`slider${option.name}`, "range", "0");
  slider.min = "0";
  slider.max = "20";
  slider.step = "1";
  slider.setAttribute("aria-label", nameOf(option));
  const place = (value) => (Number(value) <= 0 ? 0 : Math.round(Math.log2(Number(value))) + (lowest === 0 ? 1 : 0));
  const show = () => {
    slider.value = String(place(field.value));
    slider.setAttribute("aria-valuetext", field.value);
  };
  show();
  slider.addEventListener("input", () => {
    const at = Number(slider.value);
    field.value = String(lowest === 0 ? (at === 0 ? 0 : 2 ** (at - 1)) : 2 ** at);
    slider.setAttribute("aria-valuetext", field.value);
    change(field.value === usual ? undefined : field.value);
  });
  field.addEventListener("input", () => {
    show();
    change(field.value === usual || field.value === "" ? undefined : field.value);
  });
  return row(nameOf(option), option.help, field, slider);
}

function sizeRow(option, text, change) {
  const usual = defaultOf(option);
  const field = input(`field${option.name}`, "text", text ?? usual);
  const slider = input(`slider${option.name}`, "range", "8");
  slider.min = "4";
  slider.max = "15";
  slider.step = "1";
  slider.setAttribute("aria-label", `${nameOf(option)} of a cube`);
  const show = () => {
    slider.value = String(Math.round(Math.log2(Number(field.value.split("x")[0]) || 1)));
    slider.setAttribute("aria-valuetext", field.value);
  };
  show();
  slider.addEventListener("input", () => {
    const extent = 2 ** Number(slider.value);
    field.value = `${extent}x${extent}x${extent}`;
    slider.setAttribute("aria-valuetext", field.value);
    change(field.value === usual ? undefined : field.value);
  });
  field.addEventListener("input", () => {
    show();
    change(field.value === usual || field.value === "" ? undefined : field.value);
  });
  return row(nameOf(option), option.help, field, slider);
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
    } else if (isNumber(option)) {
      place.append(numberRow(option, text, changed));
    } else if (option.value === "NXxNYxNZ") {
      place.append(sizeRow(option, text, changed));
    } else {
      const field = input(`field${option.name}`, "text", text ?? "");
      field.placeholder = defaultOf(option);
      field.addEventListener("input", () => changed(field.value === "" ? undefined : field.value));
      place.append(row(nameOf(option), option.help, field));
    }
  }
}
