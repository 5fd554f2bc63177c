// Questions to the models from the page's side: they run in workers, and answer when they are ready.
import script from "./worker.bundle.txt";

/**
 * Starts a worker with the models. Its functions are those of `loadModels`; each returns a Promise, which fails with
 * Penstock's own sentence.
 */
export function startModels() {
  const worker = new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  const waiting = new Map();
  let last = 0;
  worker.addEventListener("message", ({ data: { id, value, error } }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) {
      resolve(value);
    } else {
      reject(new Error(error));
    }
  });
  const call =
    (name) =>
    (...values) =>
      new Promise((resolve, reject) => {
        last += 1;
        waiting.set(last, { resolve, reject });
        worker.postMessage({ id: last, name, values });
      });
  return { describeAll: call("describeAll"), addMachine: call("addMachine"), ask: call("ask") };
}

/**
 * A function that has `work` done, which returns a Promise, one time after another: of the calls that come while it is
 * being done only the last counts.
 */
export function oneAtATime(work) {
  let isBusy = false;
  let isWanted = false;
  return async function run() {
    isWanted = true;
    if (isBusy) {
      return;
    }
    isBusy = true;
    try {
      while (isWanted) {
        isWanted = false;
        await work();
      }
    } finally {
      isBusy = false;
    }
  };
}
