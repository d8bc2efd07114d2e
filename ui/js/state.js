// @ts-check
/**
 * What the page shows, as one value, and how each event changes it: `(state, event) => state`, without side effects.
 * Parts that an event does not touch stay the same objects, so that components can tell by identity what to redraw.
 */

import { joinParts } from "./rendition.js";

/**
 * @typedef {import("./events.js").Citation} Citation
 * @typedef {"waiting" | "searching" | "writing" | "done" | "failed" | "stopped" | "cut"} Phase
 *   `waiting`: not sent yet, the service is away; `cut`: the stream broke
 * @typedef {{id: string, question: string, phase: Phase, search: import("./events.js").Search | null, draft: string,
 *   citations: Citation[], answer: import("./events.js").Answer | null, failure: import("./events.js").Failure | null,
 *   answerId: string, feedback: "" | "good" | "bad"}} Turn
 * @typedef {{serial: number, docId: string, path: string, page: number | null, ranges: [number, number][],
 *   boxes: import("./events.js").Box[], kind: "citation" | "source" | "document",
 *   status: "" | import("./events.js").Verdict, turnId: string, index: number, citation: Citation | null,
 *   marker: number}} Target
 * @typedef {{target: Target, document: import("./events.js").DocumentDetail | null, failure: string,
 *   mode: "pages" | "rendition", part: import("./rendition.js").Part | null,
 *   words: Record<number, import("./events.js").Word[]>, zoom: number}} Viewer  `zoom` is FIT, LEGIBLE or a factor
 * @typedef {{id: string, name: string, size: number, state: "sending" | "done" | "failed", message: string,
 *   code: string}} Upload
 * @typedef {{session: "unknown" | "in" | "out", sessionError: string, connection: "online" | "away",
 *   health: any, project: string, projects: import("./events.js").Project[],
 *   view: "chat" | "documents", sidebar: boolean, conversations: import("./events.js").Conversation[],
 *   conversationId: string, turns: Turn[], documents: import("./events.js").DocumentRow[] | null,
 *   queue: import("./events.js").Queue, uploads: Upload[], viewer: Viewer | null, notice: {text: string, serial: number, bad: boolean}}} State
 */

/** @type {State} */
export const INITIAL = {
  session: "unknown",
  sessionError: "",
  connection: "online",
  health: null,
  project: "default",
  projects: [],
  view: "chat",
  sidebar: false,
  conversations: [],
  conversationId: "",
  turns: [],
  documents: null,
  queue: { paused: false, jobs: [] },
  uploads: [],
  viewer: null,
  notice: { text: "", serial: 0, bad: false },
};

/** The width of the viewer. */
export const FIT = -1;
/** As FIT, but no smaller than can be read: what a citation opens with. */
export const LEGIBLE = 0;
export const ZOOMS = [0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4];

/** What may happen to a turn; each takes the turn and the event. */
const TURN = {
  /** @param {Turn} turn */
  resent: (turn) => ({ ...fresh(turn.id, turn.question), phase: "searching" }),
  /** @param {Turn} turn */
  held: (turn) => ({ ...fresh(turn.id, turn.question), phase: "waiting" }),
  /** @param {Turn} turn */
  stopped: (turn) => (isUnderWay(turn) ? { ...turn, phase: "stopped" } : turn),
  /** @param {Turn} turn */
  cut: (turn) => ({ ...turn, phase: "cut" }),
  /** @param {Turn} turn @param {any} event */
  failed: (turn, event) => ({ ...turn, phase: "failed", failure: event.failure }),
  /** @param {Turn} turn @param {any} event */
  rated: (turn, event) => ({ ...turn, feedback: event.verdict }),
  /** @param {Turn} turn @param {any} event */
  streamed: (turn, event) => streamed(turn, event.event),
};

/** @param {Turn} turn */
export const isUnderWay = (turn) => turn.phase === "searching" || turn.phase === "writing";

/** @param {string} id @param {string} question @returns {Turn} */
function fresh(id, question) {
  return {
    id,
    question,
    phase: "searching",
    search: null,
    draft: "",
    citations: [],
    answer: null,
    failure: null,
    answerId: "",
    feedback: "",
  };
}

/**
 * @param {Turn} turn
 * @param {import("./events.js").AnswerEvent} event
 * @returns {Turn}
 */
function streamed(turn, event) {
  if (!isUnderWay(turn)) return turn;
  switch (event.type) {
    case "search":
      return { ...turn, search: event.search };
    case "token":
      return { ...turn, phase: "writing", draft: turn.draft + event.text };
    case "citation":
      return { ...turn, phase: "writing", citations: [...turn.citations, event.citation] };
    case "done":
      return {
        ...turn,
        phase: "done",
        answer: event.answer,
        citations: event.answer.citations,
        answerId: event.answer_id ?? event.answer.answer_id ?? "",
      };
    case "failed":
      return { ...turn, phase: "failed", failure: event };
  }
}

/** A stored answer as a turn. @param {import("./events.js").Answer} answer @param {number} index @returns {Turn} */
function storedTurn(answer, index) {
  const id = answer.answer_id ?? "";
  return {
    ...fresh(id || `stored-${index}`, answer.question),
    phase: "done",
    search: answer.search ?? null,
    citations: answer.citations,
    answer,
    answerId: id,
    feedback: answer.feedback?.verdict ?? "",
  };
}

/**
 * @param {State} state
 * @param {{type: string, [key: string]: any}} event
 * @returns {State}
 */
export function reduce(state, event) {
  if (event.type.startsWith("turn-")) return changeTurn(state, event);
  if (event.type.startsWith("viewer-")) return { ...state, viewer: changeViewer(state.viewer, event) };
  switch (event.type) {
    case "signed-in":
      return { ...state, session: "in", sessionError: "" };
    case "signed-out":
      return { ...state, session: "out", sessionError: event.error ?? "" };
    case "connected":
      return state.connection === "online" ? state : { ...state, connection: "online" };
    case "disconnected":
      return state.connection === "away" ? state : { ...state, connection: "away" };
    case "health":
      return { ...state, health: event.health };
    case "projects":
      return { ...state, projects: event.projects };
    case "project-chosen":
      return {
        ...INITIAL,
        session: state.session,
        connection: state.connection,
        health: state.health,
        projects: state.projects,
        view: state.view,
        notice: state.notice,
        project: event.name,
      };
    case "view-chosen":
      return { ...state, view: event.view, sidebar: false, viewer: state.view === event.view ? state.viewer : null };
    case "sidebar":
      return { ...state, sidebar: event.open };
    case "conversations":
      return { ...state, conversations: event.conversations };
    case "conversation-opened":
      return {
        ...state,
        view: "chat",
        sidebar: false,
        conversationId: event.id,
        turns: event.answers.map(storedTurn),
        viewer: null,
      };
    case "conversation-begun":
      return { ...state, view: "chat", sidebar: false, conversationId: "", turns: [], viewer: null };
    case "conversation-named":
      return state.conversationId === event.id ? state : { ...state, conversationId: event.id };
    case "asked":
      return { ...state, view: "chat", turns: [...state.turns, fresh(event.id, event.question)] };
    case "documents":
      return { ...state, documents: event.documents };
    case "queue":
      return { ...state, queue: event.queue };
    case "upload":
      return { ...state, uploads: upserted(state.uploads, event.upload) };
    case "uploads-cleared":
      return { ...state, uploads: state.uploads.filter((upload) => upload.state === "sending") };
    case "notice":
      return { ...state, notice: { text: event.text, bad: event.bad ?? false, serial: state.notice.serial + 1 } };
    default:
      return state;
  }
}

/** @param {State} state @param {any} event @returns {State} */
function changeTurn(state, event) {
  const change = TURN[/** @type {keyof typeof TURN} */ (event.type.slice("turn-".length))];
  if (!change) return state;
  let changed = false;
  const turns = state.turns.map((turn) => {
    if (turn.id !== event.id) return turn;
    const after = /** @type {Turn} */ (change(turn, event));
    changed ||= after !== turn;
    return after;
  });
  return changed ? { ...state, turns } : state;
}

/** @param {Viewer | null} viewer @param {any} event @returns {Viewer | null} */
function changeViewer(viewer, event) {
  if (event.type === "viewer-opened") return opened(viewer, event.target);
  if (!viewer || event.type === "viewer-closed") return null;
  // What arrives late, for a document that is no longer shown, changes nothing.
  if (event.docId !== undefined && event.docId !== viewer.target.docId) return viewer;
  switch (event.type) {
    case "viewer-document":
      return {
        ...viewer,
        document: event.document,
        mode: viewer.mode === "rendition" ? viewer.mode : event.document.view,
      };
    case "viewer-located":
      return {
        ...viewer,
        target: { ...viewer.target, boxes: event.boxes, page: event.boxes[0]?.page ?? viewer.target.page },
      };
    case "viewer-failed":
      return { ...viewer, failure: event.code };
    case "viewer-words":
      return { ...viewer, words: { ...viewer.words, [event.page]: event.words } };
    case "viewer-part":
      return { ...viewer, part: placed(viewer.part, event.part, event.where) };
    case "viewer-mode":
      return { ...viewer, mode: event.mode };
    case "viewer-zoomed":
      return { ...viewer, zoom: event.zoom };
    default:
      return viewer;
  }
}

/** @param {Viewer | null} viewer @param {Target} target @returns {Viewer} */
function opened(viewer, target) {
  if (viewer && viewer.target.docId === target.docId && target.docId && !viewer.failure) {
    const covered =
      viewer.part && target.ranges.every(([a, b]) => viewer.part && a >= viewer.part.from && b <= viewer.part.to);
    const mode = target.kind === "document" ? viewer.mode : (viewer.document?.view ?? viewer.mode);
    return { ...viewer, target, mode, part: covered ? viewer.part : null };
  }
  return { target, document: null, failure: "", mode: "pages", part: null, words: {}, zoom: viewer?.zoom ?? LEGIBLE };
}

/**
 * @param {import("./rendition.js").Part | null} old @param {import("./rendition.js").Part} part
 * @param {"alone" | "before" | "after"} where
 */
function placed(old, part, where) {
  if (!old || where === "alone") return part;
  return where === "before" ? joinParts(part, old) : joinParts(old, part);
}

/** @param {Upload[]} uploads @param {Upload} upload */
function upserted(uploads, upload) {
  const known = uploads.some((one) => one.id === upload.id);
  return known ? uploads.map((one) => (one.id === upload.id ? { ...one, ...upload } : one)) : [...uploads, upload];
}

/**
 * The documents as a reader wants them: failed ones first, then those under way, then the rest by path.
 * @param {import("./events.js").DocumentRow[]} documents
 * @param {import("./events.js").Queue} queue
 */
export function libraryRows(documents, queue) {
  const jobs = new Map(queue.jobs.map((job) => [job.path, job]));
  const known = new Set(documents.map((document) => document.path));
  const rows = documents.map((document) => ({ path: document.path, document, job: jobs.get(document.path) ?? null }));
  for (const job of queue.jobs)
    if (!known.has(job.path)) rows.push({ path: job.path, document: /** @type {any} */ (null), job });
  const rank = (/** @type {typeof rows[0]} */ row) => (row.job ? 1 : row.document.status === "failed" ? 0 : 2);
  return rows.sort((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/**
 * @param {State} initial
 */
export function createStore(initial) {
  let state = initial;
  /** @type {((state: State) => void)[]} */
  const listeners = [];
  return {
    get: () => state,
    /** @param {{type: string, [key: string]: any}} event */
    dispatch(event) {
      const after = reduce(state, event);
      if (after === state) return;
      state = after;
      for (const listener of listeners) listener(state);
    },
    /** @param {(state: State) => void} listener */
    subscribe: (listener) => void listeners.push(listener),
  };
}

/** @typedef {ReturnType<typeof createStore>} Store */
