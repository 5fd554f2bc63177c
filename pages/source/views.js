// What each view of the page is for, in words; where its sliders go; and questions to begin with.

/**
 * Of each model: `title` of its view; `about`, what is computed; `headline`, the keys of the numbers that are said
 * first; `starts` and `changes`, the options and the values of --set where a reader comes to the view without any;
 * `examples`, addresses with their names.
 */
export const views = {
  fft: {
    title: "Transform",
    about:
      "How long a 3-D Fourier transform takes that is spread over the nodes of a machine: each node transforms its " +
      "part, and between the directions all nodes exchange the field. Few nodes are bound by memory or arithmetic, " +
      "many by the network.",
    headline: ["time_s", "rate_flops", "efficiency"],
    starts: { "--size": "128x128x128", "--nodes": "4" },
    examples: [
      [
        "Why four nodes of Gigabit Ethernet do not help 128³",
        "model=fft&machines=gigabit-ethernet&--size=128x128x128&--nodes=4",
      ],
      ["Two networks side by side", "model=fft&machines=infiniband-ddr,gigabit-ethernet&--size=512x512x512&--nodes=16"],
      ["A large one on Frontier", "model=fft&machines=frontier&--size=4096x4096x4096&--nodes=512&--ranks-per-node=8"],
      ["Efficiency on BlueGene/P", "model=fft&machines=bluegene-p&--size=1024x1024x1024&--nodes=1024&shown=efficiency"],
    ],
  },
  gemm: {
    title: "Multiply",
    about:
      "How long a multiply of two square matrices takes: by Cannon's algorithm over the nodes, with its layers (way " +
      "“nodes”); on one node with matrices that only storage can hold (“out-of-core”); or percolating through the " +
      "memories of the HTMT (“htmt”). It is bound by arithmetic as long as panels arrive while others are multiplied.",
    headline: ["time_s", "rate_flops", "efficiency"],
    starts: {},
    examples: [
      ["Cannon's algorithm over 64 nodes", "model=gemm&machines=infiniband-ddr&--n=32768&--nodes=64"],
      ["Matrices larger than memory", "model=gemm&machines=frontier&--way=out-of-core&--n=1048576&--memory=64GiB"],
      ["The HTMT", "model=gemm&machines=htmt-2007&--way=htmt"],
    ],
  },
  pingpong: {
    title: "Messages",
    about:
      "How long one message takes from rank to rank. Short messages are bound by latency, long ones by bandwidth; at " +
      "N½ bytes a message reaches half of the bandwidth.",
    headline: ["time_s", "bandwidth_bytes_per_s"],
    starts: {},
    examples: [["Two networks side by side", "model=pingpong&machines=infiniband-ddr,gigabit-ethernet"]],
  },
  plan: {
    title: "Plan",
    about:
      "How long the command penstock fft would take with one plan: its grid of ranks, its threads, and how many planes " +
      "share a message. Gathering and scattering are bound by memory, transforms by arithmetic, the rest by messages.",
    headline: ["time_s", "rate_flops"],
    starts: { "--size": "256x256x256" },
    examples: [
      [
        "Threads of one node",
        "model=plan&machines=default&--size=256x256x256&--threads=2&--passes=joined&sweep=threads=1,2",
      ],
    ],
  },
  project: {
    title: "Years to come",
    about:
      "What becomes of a machine and of a Fourier transform on it when arithmetic, memory and links go on growing as " +
      "they have (Czechowski et al. 2012, Table 1). Arithmetic grows fastest, so that memory and then the network bind.",
    headline: ["time_s", "rate_flops"],
    starts: { "--against": "gpu-2020" },
    examples: [
      [
        "Figure 5: CPU-like machines in place of a GPU-like one",
        "model=project&machines=cpu-2020&--against=gpu-2020&--equations=uncapped",
      ],
      [
        "Figure 6: memory over network, on tori of 3, 4 and 5 dimensions",
        "model=project&machines=cpu-2020&--growing=&--n=10613&sweep=year=2010..2020:%2B2&shown=ratio_torus",
      ],
    ],
  },
  scaling: {
    title: "Laws of scaling",
    about:
      "How much faster more workers are: Amdahl's law where the problem stays (alpha 0), Gustafson's where it grows " +
      "with them (alpha 1), both with a cost of messages. The serial part s bounds the speedup; measured speedups of " +
      "yours are fitted by the same law.",
    headline: ["speedup", "efficiency"],
    starts: {},
    changes: { workers: "64" },
    examples: [
      [
        "A fit of measured speedups",
        "model=scaling&set.workers=64&--communication=blocking&--fit=1:1,2:1.9,4:3.4,8:5.6,12:6.2",
      ],
      ["Gustafson's law", "model=scaling&set.workers=64&--serial=0.1&--alpha=1"],
    ],
  },
  topology: {
    title: "Network",
    about:
      "What joins the nodes. The bisection is the bandwidth between two halves of them; an exchange of all with all " +
      "is bound by the most loaded link, or by what a node can send.",
    headline: ["bisection_bytes_per_s", "time_s"],
    starts: {},
    examples: [
      ["A torus: BlueGene/P", "model=topology&machines=bluegene-p&--nodes=512"],
      ["A fat tree: Summit", "model=topology&machines=summit"],
      ["A dragonfly: Frontier", "model=topology&machines=frontier"],
    ],
  },
};

/** The question that the page begins with. */
export const firstAddress = "model=fft&machines=gigabit-ethernet&--size=128x128x128&--nodes=4";

/** Options that a reader takes along from view to view. */
export const kept = ["--size", "--nodes", "--ranks-per-node"];

/** The options that make an answer of another kind than points: asked beside them. */
export const others = { project: "--against", scaling: "--fit" };

/** Sliders that do not go over powers of two: by steps, or by parts from 0 on. */
export const ranges = {
  "--year": { kind: "steps", min: 2005, max: 2040 },
  "--copies": { kind: "steps", min: 0, max: 4 },
  "--deferred-parts": { kind: "steps", min: 0, max: 7 },
  "--alpha": { kind: "steps", min: 0, max: 1, step: 0.05 },
  "--beta": { kind: "steps", min: 0, max: 1, step: 0.05 },
  "--serial": { kind: "parts", min: 1e-5, max: 1 },
  "--kappa": { kind: "parts", min: 1e-6, max: 1 },
  "--lambda": { kind: "parts", min: 1e-6, max: 1 },
};
