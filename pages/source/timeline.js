// A timeline of a run: what every thread of every rank did when, drawn on a canvas that is zoomed and moved, and who
// waited for whom as a table.
import { scaleLinear } from "d3-scale";
import { labelOf } from "./units.js";

const rowHeight = 18;
const headHeight = 22;
const axisHeight = 24;
const nameWidth = 168;
const colourOf = {
  transform: "--colour-0",
  multiply: "--colour-0",
  work: "--colour-0",
  move: "--colour-5",
  send: "--colour-2",
  wait: "--colour-1",
  collective: "--colour-3",
  storage: "--colour-4",
  step: "--quiet",
};
const meaningOf = {
  transform: "1-D transforms",
  multiply: "multiplies",
  work: "other computation",
  move: "copies",
  send: "puts and signals",
  wait: "waits",
  collective: "collective calls",
  storage: "transfers of files",
  step: "repetitions",
};

const seconds = (us) => labelOf(us * 1e-6, "s");

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    key in made ? (made[key] = value) : made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** The rows of a trace in order, each with its events in columns that are quick to walk. */
export function rowsOf(trace) {
  const processes = new Map();
  const rows = new Map();
  const rowOf = (pid, tid) => {
    const key = `${pid}/${tid}`;
    if (!rows.has(key)) {
      rows.set(key, { pid, tid, name: `thread ${tid}`, events: [] });
    }
    return rows.get(key);
  };
  for (const event of trace.traceEvents) {
    if (event.ph === "M" && event.name === "process_name") {
      processes.set(event.pid, event.args.name);
    } else if (event.ph === "M" && event.name === "thread_name") {
      rowOf(event.pid, event.tid).name = event.args.name;
    } else if (event.ph === "X") {
      rowOf(event.pid, event.tid).events.push(event);
    }
  }
  const all = [...rows.values()].filter((row) => row.events.length > 0);
  all.sort((a, b) => a.pid - b.pid || a.tid - b.tid);
  for (const row of all) {
    row.process = processes.get(row.pid) ?? `process ${row.pid}`;
    row.events.sort((a, b) => a.ts - b.ts || b.dur - a.dur);
    // An event within others is drawn less high; where each begins and the longest so far tell where to look.
    const open = [];
    row.depths = new Uint8Array(row.events.length);
    row.ends = new Float64Array(row.events.length);
    row.begins = new Float64Array(row.events.length);
    let end = 0;
    row.events.forEach((event, i) => {
      while (open.length > 0 && open.at(-1) <= event.ts + 5e-4) {
        // times have nanoseconds
        open.pop();
      }
      row.depths[i] = open.length;
      open.push(event.ts + event.dur);
      row.begins[i] = event.ts;
      row.ends[i] = end = Math.max(end, event.ts + event.dur);
    });
  }
  return all;
}

/** Seconds that each rank waited for each other: waits[a][b] for those of rank a for rank b. */
export function waitsOf(trace) {
  const ranks = new Set();
  const waits = {};
  for (const event of trace.traceEvents) {
    if (event.ph !== "X") {
      continue;
    }
    ranks.add(event.pid);
    if ((event.cat === "wait" || event.cat === "collective") && event.args?.peer !== undefined) {
      waits[event.pid] ??= {};
      waits[event.pid][event.args.peer] = (waits[event.pid][event.args.peer] ?? 0) + event.dur * 1e-6;
    }
  }
  return { ranks: [...ranks].sort((a, b) => a - b), waits };
}

/** How ticks are written: in one unit, with as many decimals as tell them apart. */
function tickFormat(ticks, begin) {
  const most = Math.max(...ticks.map((tick) => tick - begin));
  const [scale, unit] = [
    [1e6, "s"],
    [1e3, "ms"],
    [1, "µs"],
  ].find(([each]) => most >= each) ?? [1, "µs"];
  const apart = ticks.length > 1 ? (ticks[1] - ticks[0]) / scale : 1;
  const decimals = Math.max(0, Math.ceil(-Math.log10(apart) - 1e-9));
  return (tick) => `${((tick - begin) / scale).toFixed(decimals)}\u202f${unit}`;
}

/** The first index whose value is beyond `value` in an ordered array. */
function firstBeyond(values, value) {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    values[middle] > value ? (high = middle) : (low = middle + 1);
  }
  return low;
}

function tableOf(trace) {
  const { ranks, waits } = waitsOf(trace);
  const cell = (text, properties) => element("td", { className: "number", textContent: text, ...properties });
  const most = Math.max(0, ...Object.values(waits).flatMap((row) => Object.values(row)));
  const head = element("tr", {}, element("th", { scope: "col", textContent: "waited" }));
  for (const peer of ranks) {
    head.append(element("th", { scope: "col", textContent: `for rank ${peer}` }));
  }
  const body = ranks.map((rank) => {
    const row = element("tr", {}, element("th", { scope: "row", textContent: `rank ${rank}` }));
    for (const peer of ranks) {
      const waited = waits[rank]?.[peer];
      const shade = waited === undefined || most === 0 ? 0 : Math.round((30 * waited) / most);
      row.append(
        waited === undefined
          ? cell("")
          : cell(labelOf(waited, "s"), {
              style: `background: color-mix(in srgb, var(--colour-1) ${shade}%, transparent)`,
            }),
      );
    }
    return row;
  });
  return element(
    "table",
    {},
    element("caption", { textContent: "Who waited for whom: time in waits, all threads of a rank together" }),
    element("thead", {}, head),
    element("tbody", {}, ...body),
  );
}

/**
 * Draws `trace`, the parsed JSON of `penstock ... --trace`, into the element `place`, which has nothing else. Wheel and
 * pinch zoom, drag moves; of the keyboard the arrows move, + and - zoom, 0 shows all, Home and End go to the ends.
 */
export function drawTimeline(place, trace) {
  const rows = rowsOf(trace);
  const begin = Math.min(...rows.map((row) => row.begins[0]));
  const end = Math.max(...rows.map((row) => row.ends.at(-1)));
  place.replaceChildren();
  if (rows.length === 0) {
    place.append(element("p", { textContent: "The trace has no events." }));
    return;
  }

  // Where each row is drawn; a process has a heading above its rows.
  let height = axisHeight;
  const headings = [];
  rows.forEach((row, i) => {
    if (i === 0 || rows[i - 1].pid !== row.pid) {
      headings.push({ y: height, text: row.process });
      height += headHeight;
    }
    row.y = height;
    height += rowHeight;
  });

  const present = new Set(rows.flatMap((row) => [...new Set(row.events.map((event) => event.cat))]));
  const legend = element("ul", { className: "timeline-legend" });
  for (const [category, meaning] of Object.entries(meaningOf)) {
    if (present.has(category)) {
      legend.append(
        element(
          "li",
          {},
          element("span", { style: `background: var(${colourOf[category]})`, "aria-hidden": "true" }),
          meaning,
        ),
      );
    }
  }
  const line = element("p", { className: "timeline-line", "aria-live": "polite" });
  const canvas = element("canvas", {
    tabIndex: 0,
    className: "timeline",
    role: "application",
    "aria-label":
      `Timeline of ${rows.length} rows over ${seconds(end - begin)}: left and right move, plus and minus zoom, ` +
      "0 shows all, up and down go from event to event",
  });
  const button = (text, label, act) => {
    const made = element("button", { type: "button", textContent: text, "aria-label": label });
    made.addEventListener("click", act);
    return made;
  };
  const buttons = element("div", { className: "buttons" });
  const frame = element("div", { className: "timeline-frame" }, canvas);
  const table = element("div", {
    className: "waits",
    tabIndex: 0,
    role: "region",
    "aria-label": "Who waited for whom",
  });
  table.append(tableOf(trace));
  place.append(legend, buttons, frame, line, table);

  const x = scaleLinear().domain([begin, end]);
  let width = 0;
  let picked = null; // {row, index}
  let isWaiting = false;

  const minSpan = Math.max(0.01, (end - begin) * 1e-7);
  function show(from, to) {
    const span = Math.min(Math.max(to - from, minSpan), end - begin);
    const first = Math.min(Math.max(from, begin), end - span);
    x.domain([first, first + span]);
    later();
  }
  function zoom(factor, about = (x.domain()[0] + x.domain()[1]) / 2) {
    const [from, to] = x.domain();
    const span = Math.min(Math.max((to - from) * factor, minSpan), end - begin);
    const share = (about - from) / (to - from);
    show(about - share * span, about - share * span + span);
  }
  function move(share) {
    const [from, to] = x.domain();
    show(from + share * (to - from), to + share * (to - from));
  }

  function later() {
    if (!isWaiting) {
      isWaiting = true;
      requestAnimationFrame(draw);
    }
  }

  function draw() {
    isWaiting = false;
    const scale = window.devicePixelRatio || 1;
    width = frame.clientWidth;
    if (width === 0) {
      return;
    }
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
      canvas.style.height = `${height}px`;
    }
    const names = Math.min(nameWidth, width / 3);
    x.range([names, width]);
    const style = getComputedStyle(canvas);
    const colour = (name) => style.getPropertyValue(name).trim();
    const context = canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";

    const [from, to] = x.domain();
    context.fillStyle = colour("--quiet");
    context.strokeStyle = colour("--rule");
    const ticks = x.ticks(Math.max(2, Math.floor((width - names) / 110)));
    const tickText = tickFormat(ticks, begin);
    for (const tick of ticks) {
      const at = Math.round(x(tick)) + 0.5;
      context.beginPath();
      context.moveTo(at, axisHeight - 4);
      context.lineTo(at, height);
      context.stroke();
      context.textAlign = at > width - 40 ? "right" : at < names + 40 ? "left" : "center";
      context.fillText(tickText(tick), at, axisHeight / 2 - 2);
    }

    const colours = Object.fromEntries(Object.entries(colourOf).map(([category, name]) => [category, colour(name)]));
    context.save();
    context.beginPath();
    context.rect(names, 0, width - names, height);
    context.clip();
    const perPixel = (to - from) / (width - names);
    context.textAlign = "left";
    for (const row of rows) {
      // Events that share a pixel are one rectangle of the first of them.
      const drawn = [];
      const last = firstBeyond(row.begins, to);
      for (let i = firstBeyond(row.ends, from); i < last; ++i) {
        const event = row.events[i];
        const depth = Math.min(row.depths[i], 3);
        const left = x(event.ts);
        if (event.dur < perPixel && drawn[depth] >= left) {
          continue;
        }
        const wide = Math.max(event.dur / perPixel, 1);
        drawn[depth] = Math.floor(left) + 1;
        context.fillStyle = colours[event.cat] ?? colours.work;
        const top = row.y + 1 + 4 * depth;
        context.fillRect(left, top, wide, rowHeight - 2 - 4 * depth);
        if (wide > 46 && depth < 2) {
          context.fillStyle = colour("--ground");
          const shownLeft = Math.max(left, names);
          context.save();
          context.beginPath();
          context.rect(shownLeft, top, Math.min(left + wide, width) - shownLeft - 2, rowHeight);
          context.clip();
          context.fillText(event.name, shownLeft + 4, row.y + rowHeight / 2);
          context.restore();
        }
      }
    }
    if (picked !== null) {
      const event = picked.row.events[picked.index];
      context.strokeStyle = colour("--ink");
      context.lineWidth = 2;
      context.strokeRect(x(event.ts), picked.row.y, Math.max(event.dur / perPixel, 2), rowHeight);
      context.lineWidth = 1;
    }
    context.restore();

    context.textAlign = "left";
    for (const heading of headings) {
      context.fillStyle = colour("--panel");
      context.fillRect(0, heading.y, width, headHeight - 2);
      context.fillStyle = colour("--ink");
      context.fillText(heading.text, 4, heading.y + headHeight / 2 - 1);
    }
    context.fillStyle = colour("--quiet");
    for (const row of rows) {
      context.fillText(row.name, 12, row.y + rowHeight / 2, names - 16);
    }
  }

  /** The innermost event at a place of the canvas, or null. */
  function eventAt(left, top) {
    const row = rows.find((each) => top >= each.y && top < each.y + rowHeight);
    if (row === undefined || left < x.range()[0]) {
      return null;
    }
    const at = x.invert(left);
    const near = (x.domain()[1] - x.domain()[0]) / (x.range()[1] - x.range()[0]);
    let found = null;
    const last = firstBeyond(row.begins, at + near);
    for (let i = firstBeyond(row.ends, at - near); i < last; ++i) {
      if (
        row.events[i].ts + row.events[i].dur >= at - near &&
        (found === null || row.depths[i] >= row.depths[found.index])
      ) {
        found = { row, index: i };
      }
    }
    return found;
  }

  function pick(found) {
    if (found?.row === picked?.row && found?.index === picked?.index) {
      return;
    }
    picked = found;
    if (found !== null) {
      const event = found.row.events[found.index];
      const { peer, ...args } = event.args ?? {};
      const parts = [
        `${event.name}: ${seconds(event.dur)} from ${seconds(event.ts - begin)} on`,
        `rank ${event.pid}, ${found.row.name}`,
      ];
      if (peer !== undefined) {
        parts.push(event.cat === "wait" || event.cat === "collective" ? `for rank ${peer}` : `rank ${peer}`);
      }
      parts.push(...Object.entries(args).map(([key, value]) => `${key} ${value}`));
      line.textContent = parts.join("; ");
    }
    later();
  }

  /** Goes to the next or the previous event of the row that is picked, or of the first. */
  function step(by) {
    const row = picked?.row ?? rows[0];
    const index = picked === null ? firstBeyond(row.begins, x.domain()[0] - 1e-9) : picked.index + by;
    if (index < 0 || index >= row.events.length) {
      return;
    }
    pick({ row, index });
    const event = row.events[index];
    const [from, to] = x.domain();
    if (event.ts < from || event.ts > to) {
      show(event.ts - (to - from) / 2, event.ts + (to - from) / 2);
    }
  }

  buttons.append(
    button("+", "Zoom in", () => zoom(0.5)),
    button("−", "Zoom out", () => zoom(2)),
    button("All", "Show all", () => show(begin, end)),
    button("◀", "Previous event", () => step(-1)),
    button("▶", "Next event", () => step(1)),
  );

  canvas.addEventListener("keydown", (key) => {
    const acts = {
      ArrowLeft: () => move(-0.2),
      ArrowRight: () => move(0.2),
      ArrowDown: () => step(1),
      ArrowUp: () => step(-1),
      "+": () => zoom(0.5),
      "=": () => zoom(0.5),
      "-": () => zoom(2),
      0: () => show(begin, end),
      Home: () => show(begin, begin + x.domain()[1] - x.domain()[0]),
      End: () => show(end - x.domain()[1] + x.domain()[0], end),
    };
    if (acts[key.key] !== undefined && !key.ctrlKey && !key.metaKey && !key.altKey) {
      acts[key.key]();
      key.preventDefault();
    }
  });
  // A wheel alone scrolls the page, as long as the timeline has not the focus.
  canvas.addEventListener(
    "wheel",
    (wheel) => {
      if (document.activeElement !== canvas && !wheel.ctrlKey) {
        return;
      }
      wheel.preventDefault();
      Math.abs(wheel.deltaX) > Math.abs(wheel.deltaY)
        ? move(wheel.deltaX / width)
        : zoom(Math.exp(wheel.deltaY * (wheel.ctrlKey ? 0.01 : 0.002)), x.invert(wheel.offsetX));
    },
    { passive: false },
  );
  const pointers = new Map(); // by id: where each is
  canvas.addEventListener("pointerdown", (pointer) => {
    canvas.setPointerCapture(pointer.pointerId);
    pointers.set(pointer.pointerId, pointer.offsetX);
    pick(eventAt(pointer.offsetX, pointer.offsetY));
  });
  canvas.addEventListener("pointermove", (pointer) => {
    if (!pointers.has(pointer.pointerId)) {
      pick(eventAt(pointer.offsetX, pointer.offsetY) ?? picked);
      return;
    }
    const before = pointers.get(pointer.pointerId);
    const others = [...pointers].filter(([id]) => id !== pointer.pointerId).map(([, left]) => left);
    pointers.set(pointer.pointerId, pointer.offsetX);
    if (others.length === 0) {
      move((before - pointer.offsetX) / (x.range()[1] - x.range()[0]));
    } else {
      const [other] = others;
      const now = Math.abs(pointer.offsetX - other);
      if (now > 0) {
        zoom(Math.abs(before - other) / now, x.invert((pointer.offsetX + other) / 2));
      }
    }
  });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, (pointer) => pointers.delete(pointer.pointerId));
  }
  new ResizeObserver(later).observe(frame);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", later);
  later();
}
