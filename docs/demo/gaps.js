// Information gaps of a walk on a small graph: H_1 over GF(2) of the clique complex of the visited subgraph.
// A set of edges is a BigInt with a bit per edge; an edge that enters later has a higher bit.

/**
 * @typedef {object} Gap
 * @property {number[]} loop steps around the gap from 0, first the one that opened it
 * @property {number} opened_at number of nodes visited when the gap opened
 * @property {number|null} closed_at number of nodes visited when it closed; null if it is open
 */

const findHighest = (bits) => bits.toString(2).length - 1;

/** Add rows to a set of edges until no row has its highest edge. @param {bigint} bits @param {Map<number, bigint>} rows */
function reduceBits(bits, rows) {
  while (bits && rows.has(findHighest(bits))) bits ^= rows.get(findHighest(bits));
  return bits;
}

/** The component of each node in the subgraph induced by `nodes`, named by one of its nodes. */
function findComponents(near, nodes) {
  const component = new Map();
  for (const first of nodes) {
    const stack = [first];
    while (stack.length) {
      const u = stack.pop();
      if (component.has(u)) continue;
      component.set(u, first);
      stack.push(...near[u].filter((w) => nodes.includes(w)));
    }
  }
  return component;
}

/** A loop for each gap that step `v` opens: shortest paths that join components of its neighbors, as in Kruskal's algorithm. */
function findOpenedLoops(near, linked, v) {
  const component = findComponents(near, linked);
  const merged = new Map([...component.values()].map((name) => [name, name]));
  const parents = new Map();
  const trace = (u) => (u === undefined ? [] : [u, ...trace(parents.get(u))]);
  const loops = [];
  let frontier = [...component.keys()];
  while (frontier.length && new Set(merged.values()).size > 1) {
    const reached = new Set();
    const [within, beyond] = [[], []]; // edges between components: in the frontier, and one edge longer
    for (const u of frontier) {
      for (const w of near[u]) {
        if (!component.has(w)) {
          component.set(w, component.get(u));
          parents.set(w, u);
          reached.add(w);
        } else if (component.get(w) !== component.get(u)) {
          if (reached.has(w)) beyond.push([u, w]);
          else if (w < u && frontier.includes(w)) within.push([u, w]);
        }
      }
    }
    for (const [u, w] of [...within, ...beyond]) {
      const [one, other] = [merged.get(component.get(u)), merged.get(component.get(w))];
      if (one === other) continue;
      loops.push([v, ...trace(u).reverse(), ...trace(w)]);
      for (const [name, now] of merged) if (now === other) merged.set(name, one);
    }
    frontier = [...reached].sort((a, b) => a - b);
  }
  return loops;
}

/**
 * Find the gaps of a walk, as `measure` and `gap_loops` of the package do.
 * @param {number[][]} neighbors of every node of an undirected graph
 * @param {number[]} walk distinct nodes
 * @returns {{beta1: number[], gaps: Gap[], links: number[][]}} open gaps after every step; gaps in order of opening;
 *   links between visited nodes as pairs of steps
 */
export function findGaps(neighbors, walk) {
  const near = walk.map(() => []); // visited neighbors of every step, as steps
  const links = []; // edges as pairs of steps; the later step is when the edge entered
  const number = new Map(); // of an edge
  const boundaries = new Map(); // sums of triangles by their highest edge
  const beta1 = [];
  const gaps = [];
  const bit = (a, b) => 1n << BigInt(number.get(Math.min(a, b) * walk.length + Math.max(a, b)));
  const getBits = (loop) => loop.reduce((bits, u, i) => bits ^ bit(u, loop.at(i - 1)), 0n);
  walk.forEach((node, step) => {
    const linked = neighbors[node].map((v) => walk.indexOf(v)).filter((u) => u >= 0 && u < step).sort((a, b) => a - b);
    const opened = findOpenedLoops(near, linked, step);
    for (const u of linked) {
      number.set(u * walk.length + step, links.length);
      links.push([u, step]);
      near[u].push(step);
      near[step].push(u);
    }
    const fewer = new Set(); // steps of which a gap closes: by the elder rule, the youngest that the triangles fill
    for (const u of linked) {
      for (const w of near[u].filter((each) => each < u && linked.includes(each))) {
        const boundary = reduceBits(getBits([w, u, step]), boundaries);
        if (!boundary) continue;
        boundaries.set(findHighest(boundary), boundary);
        fewer.add(links[findHighest(boundary)][1]);
      }
    }
    for (const since of fewer) {
      const rows = new Map(boundaries);
      for (const gap of gaps.filter(({ opened_at, closed_at }) => opened_at === since + 1 && closed_at === null)) {
        // the gap stays open if its loop is independent of those before it, of older loops and of triangles
        const rest = reduceBits(getBits(gap.loop), rows);
        if (rest && links[findHighest(rest)][1] === since) rows.set(findHighest(rest), rest);
        else gap.closed_at = step + 1;
      }
    }
    gaps.push(...opened.map((loop) => ({ loop, opened_at: step + 1, closed_at: null })));
    beta1.push(gaps.filter(({ closed_at }) => closed_at === null).length);
  });
  const end = (gap) => gap.closed_at ?? Infinity;
  gaps.sort((a, b) => a.opened_at - b.opened_at || (end(a) === end(b) ? 0 : end(a) - end(b)));
  return { beta1, gaps, links };
}
