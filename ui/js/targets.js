// @ts-check
/** From what was chosen to what the viewer shows. Pure. */

/**
 * @typedef {import("./state.js").Target} Target
 * @typedef {import("./state.js").State} State
 * @typedef {import("./state.js").Turn} Turn
 */

let serial = 0;

/** @param {Partial<Target>} given @returns {Target} */
function target(given) {
  return {
    serial: ++serial,
    docId: "",
    path: "",
    page: null,
    ranges: [],
    boxes: [],
    kind: "document",
    status: "",
    turnId: "",
    index: 0,
    citation: null,
    marker: 0,
    ...given,
  };
}

/** @param {State} state @param {string} path */
const idOf = (state, path) => state.documents?.find((document) => document.path === path)?.doc_id ?? "";

/** @param {State} state @param {Turn} turn @param {number} index */
export function citationTarget(state, turn, index) {
  const citation = turn.citations[index];
  /** @type {[number, number][]} */
  const whole = citation.end > citation.start ? [[citation.start, citation.end]] : [];
  return target({
    kind: "citation",
    // A document that was indexed anew keeps its id; the path is the fallback for older answers.
    docId: citation.doc_id || idOf(state, citation.path),
    path: citation.path,
    page: citation.page,
    ranges: citation.ranges?.length ? citation.ranges : whole,
    boxes: citation.boxes,
    status: citation.status,
    turnId: turn.id,
    index,
    citation,
    marker: citation.marker,
  });
}

/** @param {State} state @param {Turn} turn @param {number} index of the passage among the results of the search */
export function sourceTarget(state, turn, index) {
  const hit = turn.search?.results[index] ?? turn.answer?.near_miss;
  if (!hit) return null;
  const kept = turn.search?.results.filter((one) => one.kept) ?? [];
  const { doc_id, ranges, start, end } = /** @type {any} */ (hit);
  return target({
    kind: "source",
    docId: doc_id || idOf(state, hit.path),
    path: hit.path,
    page: hit.page,
    ranges: ranges ?? (end > start ? [[start, end]] : []),
    turnId: turn.id,
    index,
    marker: kept.indexOf(/** @type {any} */ (hit)) + 1,
  });
}

/** @param {State} state @param {Turn} turn @param {{path: string, start: number, end: number}} place */
export function placeTarget(state, turn, place) {
  return target({
    kind: "source",
    docId: idOf(state, place.path),
    path: place.path,
    ranges: [[place.start, place.end]],
    turnId: turn.id,
  });
}

/** @param {string} docId @param {string} path */
export const documentTarget = (docId, path) => target({ docId, path, kind: "document" });
