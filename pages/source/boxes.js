// What ranks hold of a field, drawn as boxes in space; and what each sends to each, as a matrix.
import { make, makeSvg } from "./elements.js";
import { textOf } from "./units.js";

const slope = Math.sqrt(3) / 2;

/** The point of the drawing where (x, y, z) is seen: x to the right, y to the left, z up. */
function seen([x, y, z]) {
  return [(x - y) * slope, (x + y) / 2 - z];
}

function face(corners, colour) {
  return makeSvg("polygon", {
    points: corners
      .map((corner) =>
        seen(corner)
          .map((each) => each.toFixed(2))
          .join(","),
      )
      .join(" "),
    fill: colour,
    class: "face",
  });
}

/** Colours of neighbours differ, whatever their number. */
function colourOf(rank, lightness) {
  return `hsl(${(rank * 137.5) % 360} 55% ${lightness}%)`;
}

/**
 * The boxes of all ranks, each [x, y, z, nx, ny, nz], which together are a field, with the numbers of the ranks where
 * there is room.
 */
export function drawBoxes(boxes, title) {
  const size = boxes.reduce((most, box) => most.map((n, d) => Math.max(n, box[d] + box[d + 3])), [1, 1, 1]);
  const scale = 100 / Math.max(...size);
  // A direction with few points is drawn thicker than it is.
  const factors = size.map((points) => scale * Math.max(1, 12 / (scale * points)));
  const placed = boxes
    .map((box, rank) => ({
      rank,
      from: [0, 1, 2].map((d) => box[d] * factors[d]),
      to: [0, 1, 2].map((d) => (box[d] + box[d + 3]) * factors[d]),
      points: box[3] * box[4] * box[5],
    }))
    .filter((box) => box.points > 0)
    .sort((a, b) => a.from[0] + a.from[1] + a.from[2] - (b.from[0] + b.from[1] + b.from[2]));
  const ends = size.map((points, d) => points * factors[d]);
  const shapes = placed.flatMap(({ rank, from: [x, y, z], to: [u, v, w] }) => {
    const [cx, cy] = seen([(x + u) / 2, (y + v) / 2, w]);
    const number = makeSvg("text", { x: cx, y: cy + 3, "text-anchor": "middle", class: "rank" }, String(rank));
    const group = makeSvg(
      "g",
      {},
      makeSvg(
        "title",
        {},
        `rank ${rank}: ${boxes[rank].slice(3).join(" × ")} points from ${boxes[rank].slice(0, 3).join(", ")}`,
      ),
      face(
        [
          [x, y, w],
          [u, y, w],
          [u, v, w],
          [x, v, w],
        ],
        colourOf(rank, 72),
      ),
      face(
        [
          [u, y, z],
          [u, v, z],
          [u, v, w],
          [u, y, w],
        ],
        colourOf(rank, 58),
      ),
      face(
        [
          [x, v, z],
          [u, v, z],
          [u, v, w],
          [x, v, w],
        ],
        colourOf(rank, 46),
      ),
    );
    return boxes.length <= 32 && Math.min(u - x, v - y) > 9 && w === ends[2] ? [group, number] : [group];
  });
  const [left] = seen([0, ends[1], 0]);
  const [right] = seen([ends[0], 0, 0]);
  const top = seen([0, 0, ends[2]])[1];
  const bottom = seen([ends[0], ends[1], 0])[1];
  const label = (at, anchor, text) => {
    const [x, y] = seen(at);
    return makeSvg("text", { x, y: y + 14, "text-anchor": anchor, class: "axis-name" }, text);
  };
  const labels = [
    label([ends[0] / 2, ends[1], 0], "end", `x ${size[0]}`),
    label([ends[0], ends[1] / 2, 0], "start", `y ${size[1]}`),
    makeSvg(
      "text",
      {
        x: left - 4,
        y: (seen([0, ends[1], 0])[1] + seen([0, ends[1], ends[2]])[1]) / 2,
        "text-anchor": "end",
        class: "axis-name",
      },
      `z ${size[2]}`,
    ),
  ];
  return makeSvg(
    "svg",
    {
      viewBox: [left - 46, top - 6, right - left + 76, bottom - top + 26].join(" "),
      role: "img",
      "aria-label": `${title}: rank 0 of ${boxes.length} holds ${boxes[0].slice(3).join(" × ")} points`,
      class: "boxes",
    },
    ...shapes,
    ...labels,
  );
}

/** Bytes from each rank (row) to each (column), with the number of messages. */
export function drawMatrix(bytes, messages, title) {
  const ranks = bytes.length;
  const most = Math.max(...bytes.flat(), 1);
  const side = Math.min(36, 360 / ranks);
  const margin = 34;
  const cells = bytes.flatMap((row, from) =>
    row.flatMap((value, to) => {
      if (value === 0) {
        return [];
      }
      const count = messages[from][to];
      const told = `rank ${from} to rank ${to}: ${textOf(value, "B")} in ${count} message${count === 1 ? "" : "s"}`;
      const at = {
        x: margin + to * side,
        y: margin + from * side,
        width: side - (side > 6 ? 1 : 0),
        height: side - (side > 6 ? 1 : 0),
      };
      return [
        makeSvg(
          "rect",
          {
            ...at,
            class: from === to ? "cell own" : "cell",
            "fill-opacity": (0.15 + (0.85 * value) / most).toFixed(3),
          },
          makeSvg("title", {}, told),
        ),
      ];
    }),
  );
  const step = Math.ceil(12 / side);
  const numbers = [...bytes.keys()]
    .filter((rank) => rank % step === 0)
    .flatMap((rank) => [
      makeSvg(
        "text",
        { x: margin + (rank + 0.5) * side, y: margin - 6, "text-anchor": "middle", class: "axis-name" },
        String(rank),
      ),
      makeSvg(
        "text",
        { x: margin - 6, y: margin + (rank + 0.5) * side + 4, "text-anchor": "end", class: "axis-name" },
        String(rank),
      ),
    ]);
  const width = margin + ranks * side + 2;
  return makeSvg(
    "svg",
    {
      viewBox: `0 0 ${width} ${width}`,
      style: `max-width:${width}px`,
      role: "img",
      "aria-label": `${title}: at most ${textOf(most, "B")} from a rank to a rank`,
      class: "matrix",
    },
    ...numbers,
    ...cells,
  );
}

/** The figure of an exchange, with what it moves in words. */
export function exchangeFigure(stage, title) {
  const sums = { away: 0, own: 0, messages: 0 };
  stage.bytes.forEach((row, from) =>
    row.forEach((value, to) => {
      sums[from === to ? "own" : "away"] += value;
      sums.messages += from === to ? 0 : stage.messages[from][to];
    }),
  );
  const away = `To other ranks ${textOf(sums.away, "B")} in ${sums.messages} messages`;
  const words = `${title}. ${away}; ${textOf(sums.own, "B")} stay with their rank.`;
  return make("figure", {}, drawMatrix(stage.bytes, stage.messages, title), make("figcaption", {}, words));
}
