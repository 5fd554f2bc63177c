// Over what curves are drawn: the keys that a model and a machine have, and a range for each.

/** "KEY=RANGE" as its two parts. */
export const partsOf = (sweep) => {
  const equals = sweep.indexOf("=");
  return [sweep.slice(0, equals), sweep.slice(equals + 1)];
};

/** Lists of a machine's measured curves: too many keys, and none says much alone. */
const isOfCurve = (key) =>
  /^node\.(thread_bandwidths|caches|fft_rates|tile_copies|device\.passes)\./.test(key) ||
  /^network\.partitions/.test(key);

/** The numbers of a machine that may be changed. */
export const numbersOf = (machine) =>
  Object.entries(machine?.numbers ?? {}).filter(([key, value]) => !isOfCurve(key) && value > 0 && key !== "year");

/** The keys to choose from: those of the model that count, then the machine's. */
export function keysToSweep(model, machine, reads) {
  const ofModel = Object.keys(model.numbers).filter((key) => reads.includes(key));
  return model.has_machine ? [...ofModel, ...numbersOf(machine).map(([key]) => key)] : ofModel;
}

/** A range for a key whose value is `value`. */
export function rangeOf(key, value, model, machine) {
  if (model.default_sweep.startsWith(`${key}=`)) {
    return partsOf(model.default_sweep)[1];
  }
  if (key === "nodes" && machine?.numbers.count > 1) {
    return `1..${machine.numbers.count}:x2`;
  }
  if (key === "year") {
    return "2010..2030:+1";
  }
  if (key === "n") {
    return "1024..1048576:x2";
  }
  if (["serial", "alpha", "beta"].includes(key)) {
    return "0..1:+0.05";
  }
  const number = Number(value) || 1;
  if (Number.isInteger(number) && !key.includes(".")) {
    return `${Math.max(1, Math.round(number / 16))}..${number * 16}:x2`;
  }
  return Number.isInteger(number) && number < 64
    ? `1..${number * 4}:x2`
    : `${Number((number / 4).toPrecision(4))}..${Number((number * 4).toPrecision(4))}:x1.1892`;
}

/**
 * The sweep that a model has where a reader asks for none; "" where there is nothing to sweep. `reads` are the model's
 * numbers on which its answer depends.
 */
export function usualSweep(model, machine, reads) {
  if (model.default_sweep !== "") {
    return model.default_sweep;
  }
  const canSweep = (each) => reads.includes(each) && (each !== "nodes" || machine?.numbers.count > 1);
  const key = ["year", "nodes", "n", ...Object.keys(model.numbers).filter((each) => model.numbers[each] > 0)].find(
    canSweep,
  );
  if (key === undefined) {
    return "";
  }
  return `${key}=${rangeOf(key, model.numbers[key], model, machine)}`;
}
