// What joins the nodes of a machine, drawn as the model sees it, cut into two halves: the links that the cut goes
// through are those of the bisection. Of large networks a part is drawn.
import { startSvg } from "./svg.js";

const height = 260;

/** The elements of a drawing: links, nodes, switches and the cut. */
function pen(svg) {
  const add = (name, type, values) => {
    const element = svg.append(name).attr("class", type);
    Object.entries(values).forEach(([key, value]) => element.attr(key, value));
    return element;
  };
  return {
    link: ([x1, y1], [x2, y2], isCut) => add("line", isCut ? "link cut" : "link", { x1, y1, x2, y2 }),
    /** One end of a link that goes around, through the cut. */
    end: ([x1, y1], [x2, y2]) => add("line", "link cut end", { x1, y1, x2, y2 }),
    node: ([cx, cy]) => add("circle", "node", { cx, cy, r: 4 }),
    box: ([x, y], width, text) => {
      add("rect", "switch", { x: x - width / 2, y: y - 11, width, height: 22, rx: 4 });
      add("text", "switch-name", { x, y: y + 4, "text-anchor": "middle" }).text(text);
    },
    cut: (x, top, bottom) => add("line", "cut-line", { x1: x, x2: x, y1: top, y2: bottom }),
  };
}

/** Places of `count` things side by side, from `left` to `right`. */
const spread = (count, left, right) =>
  Array.from({ length: count }, (_, i) => left + ((i + 0.5) * (right - left)) / count);

/** An even number where there is more than one, so that two halves can be drawn. */
const drawnOf = (count, most) => (count <= most ? count : most - (most % 2));

function drawGrid(svg, width, network) {
  const draw = pen(svg);
  const order = network.shape.map((_, i) => i).sort((a, b) => network.shape[b] - network.shape[a] || a - b);
  const extents = order.map((i) => network.shape[i]);
  const [columns, rows, planes] = [drawnOf(extents[0], 10), drawnOf(extents[1] ?? 1, 4), drawnOf(extents[2] ?? 1, 3)];
  const step = Math.min(76, (width - 60) / (columns + 1.2));
  const [across, up] = [step * 0.36, 14]; // from a plane to the one behind it
  const left = (width - (columns - 1) * step - (planes - 1) * across) / 2;
  const top = 24 + (planes - 1) * up;
  const down = Math.min(50, (height - 40 - (planes - 1) * up) / rows);
  const at = (i, j, k) => [left + i * step + k * across, top - k * up + j * down];
  const wraps = (extent) => network.kind === "torus" && extent > 2;
  const middle = columns / 2;
  for (let k = planes - 1; k >= 0; k -= 1) {
    for (let j = 0; j < rows; j += 1) {
      for (let i = 0; i < columns; i += 1) {
        const [x, y] = at(i, j, k);
        if (i + 1 < columns) {
          draw.link([x, y], at(i + 1, j, k), i + 1 === Math.ceil(middle));
        } else if (wraps(extents[0])) {
          draw.end([x, y], [x + step * 0.4, y]);
        }
        if (i === 0 && wraps(extents[0])) {
          draw.end([x - step * 0.4, y], [x, y]);
        }
        if (j + 1 < rows) {
          draw.link([x, y], at(i, j + 1, k), false);
        }
        if (k + 1 < planes) {
          draw.link([x, y], at(i, j, k + 1), false);
        }
      }
    }
  }
  for (let k = planes - 1; k >= 0; k -= 1) {
    for (let j = 0; j < rows; j += 1) {
      for (let i = 0; i < columns; i += 1) {
        draw.node(at(i, j, k));
      }
    }
  }
  if (columns > 1) {
    draw.cut(left + (Math.ceil(middle) - 0.5) * step + ((planes - 1) * across) / 2, 4, top + (rows - 0.4) * down);
  }
  const isAll = [columns, rows, planes].every((count, i) => count === (extents[i] ?? 1)) && extents.length <= 3;
  return [
    `${network.shape.join(" × ")} nodes.`,
    wraps(extents[0]) ? "The links that leave on one side come in on the other." : "",
    isAll ? "" : `Drawn: ${columns} × ${rows} × ${planes} of them.`,
  ];
}

function drawCrossbar(svg, width, network) {
  const draw = pen(svg);
  const count = drawnOf(network.nodes, 24);
  const places = spread(count, 20, width - 20);
  places.forEach((x, i) => draw.link([width / 2, 60], [x, 190], i >= count / 2));
  draw.box([width / 2, 60], 110, "switch");
  places.forEach((x) => draw.node([x, 190]));
  return [
    `${network.nodes} nodes at one switch, each by a link of its own.`,
    count < network.nodes ? `Drawn: ${count}.` : "",
  ];
}

function drawBus(svg, width, network) {
  const draw = pen(svg);
  const count = drawnOf(network.nodes, 24);
  draw.link([20, 110], [width - 20, 110], true);
  for (const x of spread(count, 20, width - 20)) {
    draw.link([x, 110], [x, 170], false);
    draw.node([x, 170]);
  }
  draw.cut(width / 2, 70, 220);
  return [`${network.nodes} nodes on one line that all share.`, count < network.nodes ? `Drawn: ${count}.` : ""];
}

function drawFatTree(svg, width, network) {
  const draw = pen(svg);
  const leaves = drawnOf(network.parts, width < 520 ? 6 : 10);
  const nodes = Math.min(network.perLeaf, 6);
  const places = spread(leaves, 10, width - 10);
  const half = (width - 20) / leaves / 2;
  places.forEach((x, i) => {
    for (const side of [-1, 0, 1]) {
      draw.link([x + side * half * 0.4, 140], [x + side * half * 0.4, 40], i >= leaves / 2);
    }
    for (const at of spread(nodes, x - half * 0.85, x + half * 0.85)) {
      draw.link([x, 140], [at, 215], false);
      draw.node([at, 215]);
    }
    draw.box([x, 140], Math.min(half * 1.7, 56), "leaf");
  });
  draw.box([width / 2, 36], width - 30, "switches above the leaves");
  return [
    `${network.nodes} nodes at ${network.parts} leaf switches of ${network.perLeaf} nodes.`,
    leaves < network.parts || nodes < network.perLeaf ? `Drawn: ${leaves} leaves with ${nodes} nodes.` : "",
  ];
}

function drawHypercube(svg, width, network) {
  const draw = pen(svg);
  const dimensions = Math.min(Math.round(Math.log2(network.nodes)), 4);
  const steps = [
    [36, 26],
    [-6, 74],
    [88, 8],
    [Math.min(260, width / 2.2), 14],
  ];
  const count = 2 ** dimensions;
  const total = steps.slice(0, dimensions).reduce((sum, [x]) => sum + Math.max(x, 0), 0);
  const at = (node) =>
    steps.reduce(([x, y], [dx, dy], bit) => ((node >> bit) & 1 ? [x + dx, y + dy] : [x, y]), [(width - total) / 2, 40]);
  for (let node = 0; node < count; node += 1) {
    for (let bit = 0; bit < dimensions; bit += 1) {
      if (!((node >> bit) & 1)) {
        draw.link(at(node), at(node | (1 << bit)), bit === dimensions - 1);
      }
    }
  }
  for (let node = 0; node < count; node += 1) {
    draw.node(at(node));
  }
  return [
    `${network.nodes} nodes; each has one link along each dimension.`,
    count < network.nodes ? `Drawn: ${dimensions} dimensions of it.` : "",
  ];
}

function drawDragonfly(svg, width, network) {
  const draw = pen(svg);
  const groups = drawnOf(network.parts, 14);
  const middle = [width / 2, height / 2];
  const radius = [Math.min(width / 2 - 50, 230), height / 2 - 26];
  const at = (i) => {
    const angle = Math.PI / 2 - ((i + 0.5) / groups) * 2 * Math.PI;
    return [middle[0] + radius[0] * Math.cos(angle), middle[1] - radius[1] * Math.sin(angle)];
  };
  const isRight = (i) => i < groups / 2;
  for (let i = 0; i < groups; i += 1) {
    for (let j = i + 1; j < groups; j += 1) {
      draw.link(at(i), at(j), isRight(i) !== isRight(j));
    }
  }
  for (let i = 0; i < groups; i += 1) {
    draw.box(at(i), 58, "group");
  }
  draw.cut(middle[0], 4, height - 4);
  return [
    `${network.nodes} nodes in ${network.parts} groups; each group has links to each other group.`,
    groups < network.parts ? `Drawn: ${groups} groups.` : "",
  ];
}

const drawings = {
  bus: drawBus,
  crossbar: drawCrossbar,
  dragonfly: drawDragonfly,
  "fat-tree": drawFatTree,
  hypercube: drawHypercube,
  mesh: drawGrid,
  torus: drawGrid,
};

/**
 * Draws into `place`: `network` has `kind`, `nodes`, `shape` (the extents of a mesh or torus), `parts` (leaf switches
 * or groups), `perLeaf` (nodes of a leaf switch). Returns the sentences that say what is drawn.
 */
export function drawTopology(place, width, network) {
  const svg = startSvg(place, width, height, `A ${network.kind} of ${network.nodes} nodes, cut into two halves`);
  return drawings[network.kind](svg, width, network)
    .filter((text) => text !== "")
    .join(" ");
}
