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
  const call = (name, ...texts) => {
    const answer = JSON.parse(
      module.ccall(
        name,
        "string",
        texts.map(() => "string"),
        texts,
      ),
    );
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
    /** The answer to the arguments of `penstock model MODEL`: its JSON as text, and what the keys mean. */
    ask: (model, words) => call("penstock_ask", model, JSON.stringify(words)),
  };
}
