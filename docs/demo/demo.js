// The page without a service: one toy graph, whose gaps are computed in the browser. build_demo.py joins it with the modules of the page.

import { findGaps } from "./gaps.js";
import { Page } from "./page.js";
import { EXAMPLE } from "./state.js";

const AHEAD = 4; // steps that the agent looks ahead
const toy = JSON.parse(document.getElementById("toy").textContent);
const neighbors = toy.labels.map((_, v) => toy.links.filter((link) => link.includes(v)).map(([a, b]) => (a === v ? b : a)));

function refuse(wish) {
  throw new Error(`Install curiograph to ${wish}.`);
}

/** Nodes that a walk can visit next: unvisited neighbors of its last node, at a dead end those of all its nodes. */
function findCandidates(walk) {
  const near = (nodes) => [...new Set(nodes.flatMap((v) => neighbors[v]))].filter((v) => !walk.includes(v)).sort((a, b) => a - b);
  const next = near(walk.slice(-1));
  return next.length ? next : near(walk);
}

/** The largest sum of open gaps over the next steps. @param {number[]} walk @param {number} steps */
function computeBest(walk, steps) {
  const next = steps ? findCandidates(walk).map((v) => [...walk, v]) : [];
  return Math.max(0, ...next.map((longer) => findGaps(neighbors, longer).beta1.at(-1) + computeBest(longer, steps - 1)));
}

/** Candidates with their effects: first the choice of the agent, then by open gaps and links. */
function lookAhead(walk) {
  const scored = findCandidates(walk).map((v) => {
    const longer = [...walk, v];
    const { beta1, gaps, links } = findGaps(neighbors, longer);
    const igt = beta1.at(-1);
    return {
      index: v,
      score: igt + computeBest(longer, AHEAD - 1),
      node: toy.labels[v],
      values: { igt, degree: neighbors[v].length },
      opens: gaps.filter((gap) => gap.opened_at === longer.length).length,
      closes: gaps.filter((gap) => gap.closed_at === longer.length).length,
      linked: links.filter(([, later]) => later === walk.length).map(([earlier]) => earlier),
    };
  });
  scored.sort((a, b) => b.values.igt - a.values.igt || b.values.degree - a.values.degree);
  const best = scored.reduce((a, b) => (b.score > a.score ? b : a), scored[0]);
  return scored.length ? [best, ...scored.filter((each) => each !== best)] : [];
}

/** Show a walk, as `POST /view` does. */
async function view({ walk: labels, more }) {
  if (more) refuse("see compression, flexibility and PageRank");
  const walk = labels.map((label) => toy.labels.indexOf(label));
  if (walk.includes(-1)) throw new Error(`There is no node “${labels[walk.indexOf(-1)]}”; start at another one.`);
  if (new Set(walk).size < walk.length) throw new Error("A walk visits each node once; leave out the second visit.");
  const { beta1, gaps, links } = findGaps(neighbors, walk);
  const candidates = lookAhead(walk);
  return {
    walk: labels,
    beta1,
    gaps,
    links,
    candidates,
    total: candidates.length,
    choice: candidates[0]?.node,
    reason: `It tries all walks of the next ${AHEAD} steps, and the best one begins here.`,
    igt: beta1.at(-1),
    on_the_way: candidates.every(({ index }) => neighbors[walk.at(-1)].includes(index)),
    places: [...walk, ...candidates.map(({ index }) => index)].map((v) => toy.places[v]),
  };
}

const demo = {
  listGraphs: async () => [{ id: EXAMPLE.graph, title: "Everyday things" }],
  getPicture: async (graph) => (graph === EXAMPLE.graph ? toy : refuse(`open the graph “${graph}”`)),
  async searchNodes(graph, text) {
    const nodes = toy.labels.filter((label) => label.includes(text.toLowerCase())).sort((a, b) => a.length - b.length);
    return { nodes, titles: nodes };
  },
  async listGaps() {
    const { gaps } = findGaps(neighbors, [...neighbors.keys()]);
    const loops = gaps.filter((gap) => !gap.closed_at).map(({ loop }) => loop.map((v) => toy.labels[v]));
    return { total: loops.length, gaps: loops.map((loop) => ({ loop, titles: loop, links: [], nodes: [] })) };
  },
  view,
  look: view,
  async explore({ start, steps }) {
    const walk = [toy.labels.indexOf(start)];
    while (walk.length < steps && findCandidates(walk).length) walk.push(lookAhead(walk)[0].index);
    return { nodes: walk.map((v) => toy.labels[v]) };
  },
  recommend: async () => refuse("get recommendations"),
  upload: async () => refuse("bring your own graph"),
};

if (window !== window.parent) {
  // in a page of the documentation, which scrolls
  document.getElementById("picture").style.touchAction = "pan-y";
  addEventListener("wheel", (event) => event.ctrlKey || event.stopPropagation(), { capture: true });
}
window.curiograph = new Page(demo);
window.curiograph.bring = () => window.curiograph.report("Install curiograph to bring your own graph.");
window.curiograph.open();
