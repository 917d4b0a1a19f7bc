// The state of the page is its address: `#graph=ID&walk=A&walk=B&by=ya`. Back undoes a step.

/**
 * @typedef {object} State
 * @property {string} graph id of the graph
 * @property {(string|number)[]} walk labels in order of visit; empty for the default start
 * @property {string} by who chose each node after the first: y you, a the agent, e the example
 * @property {string} agent
 * @property {string} reward what the agent seeks
 * @property {number} race steps of a race against the agent; 0 if there is none
 * @property {boolean} more whether compression, flexibility, PageRank and links are shown
 */

/** The first screen: one step before a gap opens. */
export const EXAMPLE = { graph: "toy:everyday", walk: ["lemon", "sun", "cloud", "steam", "kettle"], by: "eeee" };

export const DEFAULTS = { graph: EXAMPLE.graph, walk: [], by: "", agent: "planner", reward: "igt", race: 0, more: false };

/** @returns {State} */
export function readAddress() {
  const query = new URLSearchParams(location.hash.length > 1 ? location.hash.slice(1) : location.search);
  const state = { ...DEFAULTS, walk: query.getAll("walk") };
  for (const name of ["graph", "by", "agent", "reward"]) state[name] = query.get(name) || state[name];
  state.race = Math.min(100, Math.max(0, parseInt(query.get("race") || "0", 10) || 0));
  state.more = query.get("more") === "1";
  if (![...query.keys()].some((name) => name === "graph" || name === "walk")) Object.assign(state, EXAMPLE);
  return state;
}

/** @param {State} state @returns {string} */
export function formatAddress(state) {
  const query = new URLSearchParams({ graph: state.graph });
  for (const node of state.walk) query.append("walk", String(node));
  for (const name of ["by", "agent", "reward", "race"]) {
    if (state[name] !== DEFAULTS[name]) query.set(name, String(state[name]));
  }
  if (state.more) query.set("more", "1");
  return `#${query}`;
}

/** Keep a state in the address; a new entry of the history, so that Back undoes it. @param {State} state */
export function pushAddress(state) {
  history.pushState({ isOurs: true }, "", formatAddress(state));
}

/** Keep a state in the address, in place of the last one. @param {State} state */
export function replaceAddress(state) {
  history.replaceState(history.state, "", formatAddress(state));
}

/** Return what this browser keeps under a name. @template T @param {string} name @param {T} none @returns {T} */
export function recall(name, none) {
  try {
    return JSON.parse(localStorage.getItem(`curiograph ${name}`) ?? "null") ?? none;
  } catch {
    return none;
  }
}

/** Keep something in this browser: uploads, which the service does not list, and dismissed gaps. */
export function keep(name, value) {
  try {
    localStorage.setItem(`curiograph ${name}`, JSON.stringify(value));
  } catch {
    // it keeps nothing; the address still has the id of an upload
  }
}
