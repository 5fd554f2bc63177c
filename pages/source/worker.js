// The models in a worker of the browser's: the page stays quick, whatever they are asked.
import { loadModels } from "./models.js";

const loading = loadModels();

addEventListener("message", async ({ data: { id, name, values } }) => {
  try {
    const models = await loading;
    postMessage({ id, value: models[name](...values) });
  } catch (error) {
    postMessage({ id, error: error.message });
  }
});
