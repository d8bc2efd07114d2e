// @ts-check
/**
 * The text of an answer as blocks and inline pieces. Pure, and no HTML: a model's words become text nodes, whatever
 * they look like. Of Markdown it knows paragraphs, lists, headings, code and bold; links and pictures stay text.
 */

import { pointOffset } from "./text.js";

/**
 * @typedef {{kind: "text" | "strong" | "code", text: string, start: number}
 *   | {kind: "marker", number: number, start: number}} Piece  `start` counts code points of the answer
 * @typedef {{kind: "p" | "h" | "pre", pieces: Piece[]} | {kind: "ul" | "ol", items: Piece[][]}} ProseBlock
 */

const NUMBERS = "\\d{1,3}(?:\\s*[-–,;،]\\s*\\d{1,3})*";
const INLINE = new RegExp(
  `(\`[^\`\\n]+\`)|(\\*\\*[^*\\n]+\\*\\*)|(?:\\[\\[\\s*(${NUMBERS})\\s*\\]\\]|\\[\\s*(${NUMBERS})\\s*\\]|【\\s*(${NUMBERS})\\s*】)`,
  "g",
);
const ITEM = /^\s{0,3}(?:([-*•])|(\d{1,3})[.)])\s+/;
const LONGEST_RANGE = 20;

/**
 * The numbers in a marker such as `1`, `1, 3` or `1-3`.
 * @param {string} listed
 */
export function markerNumbers(listed) {
  const found = [];
  for (const [, first, last] of listed.matchAll(/(\d+)(?:\s*[-–]\s*(\d+))?/g)) {
    const low = Number(first);
    const high = last === undefined ? low : Number(last);
    if (high >= low && high <= low + LONGEST_RANGE) for (let n = low; n <= high; n++) found.push(n);
    else found.push(low, high);
  }
  return found;
}

/**
 * @param {string} text
 * @returns {ProseBlock[]}
 */
export function parseProse(text) {
  /** @type {ProseBlock[]} */
  const blocks = [];
  const point = pointsOf(text);
  let unit = 0;
  /** @type {{start: number, end: number} | null} */
  let paragraph = null;
  /** @type {number | null} */
  let code = null;

  const flush = () => {
    if (paragraph) blocks.push({ kind: "p", pieces: inline(text, paragraph.start, paragraph.end, point) });
    paragraph = null;
  };
  const lines = text.split("\n");
  for (const line of lines) {
    const start = unit;
    const end = start + line.length;
    unit = end + 1;
    const isFence = line.trimStart().startsWith("```");
    if (code !== null) {
      if (!isFence) continue;
      blocks.push(pre(text, code, start - 1, point));
      code = null;
    } else if (isFence) {
      flush();
      code = unit;
    } else if (!line.trim()) {
      flush();
    } else {
      const heading = /^#{1,6}\s+/.exec(line);
      const item = ITEM.exec(line);
      if (heading) {
        flush();
        blocks.push({ kind: "h", pieces: inline(text, start + heading[0].length, end, point) });
      } else if (item) {
        flush();
        const kind = item[1] ? "ul" : "ol";
        const last = blocks.at(-1);
        const pieces = inline(text, start + item[0].length, end, point);
        if (last?.kind === kind) last.items.push(pieces);
        else blocks.push({ kind, items: [pieces] });
      } else if (paragraph) {
        paragraph.end = end;
      } else {
        paragraph = { start, end };
      }
    }
  }
  if (code !== null) blocks.push(pre(text, Math.min(code, text.length), text.length, point));
  flush();
  return blocks;
}

/** @param {string} text @returns {(unit: number) => number} */
function pointsOf(text) {
  // Answers are short; without a surrogate pair the two counts are the same.
  return /[\ud800-\udfff]/.test(text) ? (unit) => pointOffset(text, unit) : (unit) => unit;
}

/** @param {string} text @param {number} start @param {number} end @param {(unit: number) => number} point */
function pre(text, start, end, point) {
  const piece = {
    kind: /** @type {const} */ ("text"),
    text: text.slice(start, Math.max(start, end)),
    start: point(start),
  };
  return { kind: /** @type {const} */ ("pre"), pieces: [piece] };
}

/**
 * @param {string} text @param {number} start @param {number} end @param {(unit: number) => number} point
 * @returns {Piece[]}
 */
function inline(text, start, end, point) {
  /** @type {Piece[]} */
  const pieces = [];
  let last = start;
  const plain = (/** @type {number} */ until) => {
    if (until > last) pieces.push({ kind: "text", text: text.slice(last, until), start: point(last) });
  };
  const line = text.slice(start, end);
  for (const match of line.matchAll(INLINE)) {
    const at = start + match.index;
    plain(at);
    last = at + match[0].length;
    const [, code, strong, doubled, single, cjk] = match;
    const listed = doubled ?? single ?? cjk;
    if (code) pieces.push({ kind: "code", text: code.slice(1, -1), start: point(at + 1) });
    else if (strong) pieces.push({ kind: "strong", text: strong.slice(2, -2), start: point(at + 2) });
    else for (const number of markerNumbers(listed)) pieces.push({ kind: "marker", number, start: point(at) });
  }
  plain(end);
  return pieces;
}

/**
 * Which citation a marker stands for: of those with its number, the one whose sentence holds or is nearest to it.
 * @param {{marker: number, sentence?: number[]}[]} citations
 * @param {number} number
 * @param {number} position in code points of the answer
 * @returns {number} its place in `citations`, or -1
 */
export function citationAt(citations, number, position) {
  let best = -1;
  let least = Infinity;
  citations.forEach((citation, index) => {
    if (citation.marker !== number) return;
    const [start, end] = citation.sentence ?? [0, 0];
    const away = position < start ? start - position : Math.max(0, position - end);
    if (away < least) {
      least = away;
      best = index;
    }
  });
  return best;
}
