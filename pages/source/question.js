// What is asked: kept in the page's address, turned into the arguments of `penstock model`.

/**
 * A question: `model`; `options`, the texts of the model's options by name ("--nodes"), of flags ""; `changes`, the
 * values of --set by key; `sweep`, the text of --sweep or ""; `machines`, one or two names, of models that have such.
 */
export function questionOf(address) {
  const question = { model: "fft", options: {}, changes: {}, sweep: "", machines: ["frontier"] };
  for (const [key, value] of new URLSearchParams(address.replace(/^#/, ""))) {
    if (key === "model" || key === "sweep") {
      question[key] = value;
    } else if (key === "machines") {
      question.machines = value.split(",").filter((name) => name !== "");
    } else if (key.startsWith("--")) {
      question.options[key] = value;
    } else if (key.startsWith("set.")) {
      question.changes[key.slice(4)] = value;
    }
  }
  return question;
}

export function addressOf(question) {
  const words = new URLSearchParams({ model: question.model });
  if (question.machines.length > 0) {
    words.set("machines", question.machines.join(","));
  }
  for (const [name, text] of Object.entries(question.options)) {
    words.set(name, text);
  }
  for (const [key, value] of Object.entries(question.changes)) {
    words.set(`set.${key}`, value);
  }
  if (question.sweep !== "") {
    words.set("sweep", question.sweep);
  }
  return `#${words}`;
}

/** The arguments behind `penstock model MODEL`, for one of the machines, with the text of --sweep or "". */
export function argumentsOf(question, model, machine, sweep) {
  const words = [];
  if (model.has_machine && machine !== undefined) {
    words.push("--machine", machine);
  }
  for (const option of model.options) {
    const text = question.options[option.name];
    if (text === undefined) {
      continue;
    }
    words.push(option.name);
    if (option.value !== "") {
      words.push(text);
    }
  }
  const [swept] = sweep.split("=");
  for (const [key, value] of Object.entries(question.changes)) {
    if (key !== swept) {
      words.push("--set", `${key}=${value}`);
    }
  }
  if (sweep !== "") {
    words.push("--sweep", sweep);
  }
  return words;
}

/** A line for a shell that gives the same numbers. */
export function commandOf(model, words) {
  const quoted = words.map((word) => (/^[\w.,:=+@/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`));
  return ["penstock", "model", model, ...quoted].join(" ");
}
