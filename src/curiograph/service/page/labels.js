// Labels that never overlap: each is placed at the first free side of its node, in order of priority.

const FONT = '"Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const widths = new Map();

/** Width of a text in pixels. */
function measure(pen, text, font) {
  const key = `${font} ${text}`;
  if (!widths.has(key)) {
    if (widths.size > 4000) widths.clear();
    pen.font = font;
    widths.set(key, pen.measureText(text).width);
  }
  return widths.get(key);
}

const titles = new Map();

/** Remember the titles of nodes, if the graph has any. @param {(string|number)[]} labels @param {string[]} [names] */
export function keepTitles(labels, names) {
  names?.forEach((name, i) => titles.set(labels[i], name));
}

/** Forget all titles: another graph is shown. */
export const forgetTitles = () => titles.clear();

/** Return a label as shown: its title, or itself with underscores as spaces; without marks that turn text around. */
export const title = (label) => (titles.get(label) ?? String(label).replaceAll("_", " ")).replace(/[\u202a-\u202e\u2066-\u2069]/g, "");

/** Cut a name in the middle. @param {string} name @param {number} length */
export function shorten(name, length = 24) {
  if (name.length <= length) return name;
  const tail = Math.floor((length - 1) / 3);
  return `${name.slice(0, length - 1 - tail).trimEnd()}…${name.slice(-tail).trimStart()}`;
}

/**
 * Choose places of labels.
 * @param {CanvasRenderingContext2D} pen
 * @param {{x: number, y: number, r: number, text: string, size: number, bold?: boolean, lines?: number[][]}[]} wanted in
 *   order of priority; `lines` are the other ends of thick lines from the node
 * @param {{x: number, y: number, r: number}[]} discs nodes that labels should not cover
 * @param {{left: number, top: number, right: number, bottom: number}} area
 * @param {DOMRect[]} cards boxes that cover the picture
 * @returns {{item: object, box: number[], x: number, y: number, font: string, text: string}[]}
 */
export function placeLabels(pen, wanted, discs, area, cards = []) {
  const taken = cards.map((card) => [card.left, card.top, card.right, card.bottom]);
  const placed = [];
  const isFree = (box, isFirst) =>
    box[0] >= area.left && box[2] <= area.right && box[1] >= area.top && box[3] <= area.bottom &&
    !taken.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1]) &&
    (isFirst || !discs.some((d) => d.x + d.r > box[0] && d.x - d.r < box[2] && d.y + d.r > box[1] && d.y - d.r < box[3]));
  for (const item of wanted) {
    const font = `${item.bold ? "600 " : ""}${item.size}px ${FONT}`;
    const text = shorten(item.text);
    const width = measure(pen, text, font);
    const [w, h, gap] = [width, item.size * 1.15, item.r + 5];
    const sides = [
      [gap, -h / 2],
      [-gap - w, -h / 2],
      [-w / 2, gap - 1],
      [-w / 2, -gap - h + 1],
      [gap * 0.7, gap * 0.5],
      [gap * 0.7, -h - gap * 0.5],
      [-w - gap * 0.7, gap * 0.5],
      [-w - gap * 0.7, -h - gap * 0.5],
    ];
    // sides away from the lines of the walk first
    const crowd = ([dx, dy]) => {
      const [mx, my] = [dx + w / 2, dy + h / 2];
      return (item.lines ?? []).reduce((sum, [x, y]) => {
        const length = Math.hypot(x - item.x, y - item.y) || 1;
        return Math.max(sum, ((x - item.x) * mx + (y - item.y) * my) / length / Math.hypot(mx, my));
      }, 0.3);
    };
    const order = item.lines ? sides.map((side) => [crowd(side), side]).sort((a, b) => a[0] - b[0]).map(([, side]) => side) : sides;
    for (const [dx, dy] of order) {
      const box = [item.x + dx, item.y + dy, item.x + dx + w, item.y + dy + h];
      if (!isFree(box, item.rank <= 1)) continue;
      taken.push([box[0] - 2, box[1] - 1, box[2] + 2, box[3] + 1]);
      placed.push({ item, box, x: box[0], y: item.y + dy + h / 2, font, text });
      break;
    }
  }
  return placed;
}
