// The words of the page, and small makers of elements; text is never read as HTML.

import { title } from "./labels.js";

export const MOTIVES = {
  igt: "information gaps",
  cpt: "compression",
  cct: "flexibility",
  pagerank: "PageRank",
  degree: "many links",
};

export const AGENTS = {
  planner: "looks ahead",
  greedy: "takes the best next node",
  "max-degree": "goes where most links are",
  random: "chooses at random",
};

/** Make an element. @param {string} tag @param {object} [values] properties @param {...(Node|string)} children */
export function make(tag, values = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(values)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** @param {number} count @param {string} thing */
export const count = (number, thing) => `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`;

/** Describe the gaps that a node opens and closes. */
export function describeEffect(opens, closes) {
  const parts = [];
  if (opens) parts.push(`opens ${opens}`);
  if (closes) parts.push(`closes ${closes}`);
  return parts.join(", ");
}

/** Names around a loop; of a long one its ends. @param {(string|number)[]} labels */
export function joinLoop(labels) {
  const names = labels.map(title);
  return (names.length > 6 ? [...names.slice(0, 4), "…", names.at(-1)] : names).join(" – ");
}

/** The gaps of a view that opened and closed with its last step. */
function findChanges(view) {
  const steps = view.walk.length;
  return {
    opened: view.gaps.filter((gap) => gap.opened_at === steps && gap.opened_at > 1),
    closed: view.gaps.filter((gap) => gap.closed_at === steps),
  };
}

/** Whether no node has been chosen yet, on the first screen. */
export const isExample = (state) => state.by !== "" && !/[ya]/.test(state.by);

/** The sentence of a step, as parts of text and bold names. */
export function describeStep(state, view, isRacing) {
  const last = make("b", {}, title(view.walk.at(-1)));
  const end = view.total ? "" : " There is nowhere left to go: press Back, or start somewhere else.";
  if (isRacing) {
    const left = state.race + 1 - view.walk.length;
    return [`Race: ${count(left, "step")} left, from `, last, ". Every step scores the gaps that are open then. You choose.", end];
  }
  if (isExample(state)) {
    return ["You walked to ", last, ". Click ", make("b", {}, title(view.choice ?? "")), " and see what your path becomes."];
  }
  if (view.walk.length === 1) return ["You are at ", last, ". Click a ringed node to go there, or press Step.", end];
  const { opened, closed } = findChanges(view);
  const [who, which] = state.by.at(-1) === "a" ? ["The agent went to ", ", which"] : ["", ""];
  const dead = view.on_the_way || !view.total ? "" : " A dead end: the next nodes hang from earlier ones.";
  if (opened.length === 1 && view.gaps.length === 1) {
    const gap = make("b", { className: "gap" }, "information gap");
    return [who, last, `${which} opens an `, gap, ": a ring of links, and nothing you visited fills it.", dead, end];
  }
  if (opened.length || closed.length) {
    const effect = [];
    if (opened.length) effect.push(opened.length === 1 ? "opens a gap" : `opens ${opened.length} gaps`);
    if (closed.length) effect.push(closed.length === 1 ? "closes a gap" : `closes ${closed.length} gaps`);
    return [who, last, `${which} ${effect.join(" and ")}.`, dead, end];
  }
  return [who || "You are at ", last, ". No gap opens or closes.", dead, end];
}
