// What is asked: kept in the page's address, turned into the arguments of `penstock model`.

/**
 * A question: `model`; `options`, the texts of the model's options by name ("--nodes"), of flags ""; `changes`, the
 * values of --set by key; `sweep`, the text of --sweep or ""; `machines`, one or two names, of models that have such;
 * `shown`, the key of the number that the curves draw, or ""; `files`, the packed texts of machine files by name.
 */
export function questionOf(address) {
  const question = { model: "fft", options: {}, changes: {}, sweep: "", machines: ["frontier"], shown: "", files: {} };
  for (const [key, value] of new URLSearchParams(address.replace(/^#/, ""))) {
    if (key === "model" || key === "sweep" || key === "shown") {
      question[key] = value;
    } else if (key === "machines") {
      question.machines = value.split(",").filter((name) => name !== "");
    } else if (key.startsWith("--")) {
      question.options[key] = value;
    } else if (key.startsWith("set.")) {
      question.changes[key.slice(4)] = value;
    } else if (key.startsWith("file.")) {
      question.files[key.slice(5)] = value;
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
  for (const key of ["sweep", "shown"]) {
    if (question[key] !== "") {
      words.set(key, question[key]);
    }
  }
  for (const [name, packed] of Object.entries(question.files)) {
    if (question.machines.includes(name)) {
      words.set(`file.${name}`, packed);
    }
  }
  return `#${words}`;
}

/**
 * The arguments behind `penstock model MODEL`, for one of the machines, with the text of --sweep or "", and without the
 * options named in `without`.
 */
export function argumentsOf(question, model, machine, sweep, without = []) {
  const words = [];
  if (model.has_machine && machine !== undefined) {
    words.push("--machine", machine);
  }
  for (const option of model.options) {
    const text = question.options[option.name];
    if (text === undefined || without.includes(option.name)) {
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

const streamed = (bytes, stream) => new Response(new Blob([bytes]).stream().pipeThrough(stream));

/** A text as an address can carry it. */
export async function packed(text) {
  const bytes = new Uint8Array(await streamed(text, new CompressionStream("gzip")).arrayBuffer());
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The text that `packed` has packed. */
export async function unpacked(letters) {
  const bytes = Uint8Array.from(atob(letters.replaceAll("-", "+").replaceAll("_", "/")), (letter) =>
    letter.charCodeAt(0),
  );
  return streamed(bytes, new DecompressionStream("gzip")).text();
}
