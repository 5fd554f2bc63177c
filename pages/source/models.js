// Penstock's models, compiled to WebAssembly: each question is answered by the code of `penstock model`.
import load from "./model.js";
import packed from "./model.wasm.gz";

async function unpacked() {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

/** Resolves to the functions that ask the models. Those throw an Error with Penstock's own sentence. */
export async function loadModels() {
  const module = await load({ wasmBinary: await unpacked() });
  const call = (name, ...values) => {
    const types = values.map((value) => (typeof value === "string" ? "string" : "number"));
    const answer = JSON.parse(module.ccall(name, "string", types, values));
    if (answer.error !== undefined) {
      throw new Error(answer.error);
    }
    return answer;
  };
  return {
    /** All models with their options, and the described machines. */
    describeAll: () => call("penstock_describe_all"),
    /** The machine of a machine file's text, which is kept under `file` for --machine. */
    addMachine(file, text) {
      const machine = call("penstock_describe_machine", text, file);
      module.ccall("penstock_keep_machine", null, ["string", "string"], [file, text]);
      return machine;
    },
    /**
     * The answer to the arguments of `penstock model MODEL`: its JSON as text, and what the keys mean. Without gains
     * the points lack "bound_by" and "gain_of_twice", and come sooner.
     */
    ask: (model, words, hasGains = true) => call("penstock_ask", model, JSON.stringify(words), hasGains ? 1 : 0),
  };
}
