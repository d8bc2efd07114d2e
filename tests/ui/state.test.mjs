/** The reducer: what each event makes of the page's state. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { INITIAL, createStore, libraryRows, reduce } from "../../ui/js/state.js";

const SEARCH = { query: "q", mode: "hybrid", threshold: 0.5, results: [], timings_ms: {} };
const citation = (marker, status = "verified") => ({ marker, status, sentence: [0, 5] });
const answer = (more = {}) => ({
  question: "q",
  answer: "a [1].",
  citations: [citation(1)],
  uncited_figures: [],
  ...more,
});
const run = (...events) => events.reduce(reduce, INITIAL);
const asked = { type: "asked", id: "t1", question: "q" };
const streamed = (event, id = "t1") => ({ type: "turn-streamed", id, event });
const target = (more = {}) => ({
  serial: 1,
  docId: "d1",
  path: "a.md",
  page: null,
  ranges: [[5, 9]],
  boxes: [],
  kind: "citation",
  status: "verified",
  turnId: "t1",
  index: 0,
  ...more,
});

test("an answer goes from search over words to its end", () => {
  let state = run(asked);
  assert.equal(state.turns[0].phase, "searching");
  state = reduce(state, streamed({ type: "search", search: SEARCH }));
  assert.equal(state.turns[0].phase, "searching");
  state = reduce(state, streamed({ type: "token", text: "One " }));
  state = reduce(state, streamed({ type: "token", text: "two" }));
  assert.deepEqual([state.turns[0].phase, state.turns[0].draft], ["writing", "One two"]);
  state = reduce(state, streamed({ type: "citation", citation: citation(1) }));
  assert.equal(state.turns[0].citations.length, 1);
  state = reduce(state, streamed({ type: "done", answer: answer(), answer_id: "a1", conversation_id: "c1" }));
  assert.deepEqual([state.turns[0].phase, state.turns[0].answerId, state.turns[0].citations.length], ["done", "a1", 1]);
});

test("words that arrive after the stop change nothing", () => {
  const state = run(asked, streamed({ type: "token", text: "One" }), { type: "turn-stopped", id: "t1" });
  assert.equal(state.turns[0].phase, "stopped");
  assert.equal(reduce(state, streamed({ type: "token", text: " two" })), state);
});

test("stopping an answer that is done changes nothing", () => {
  const state = run(asked, streamed({ type: "done", answer: answer() }));
  assert.equal(reduce(state, { type: "turn-stopped", id: "t1" }), state);
});

test("an answer that was cut off keeps its words, and begins anew when it is asked again", () => {
  const cut = run(asked, streamed({ type: "token", text: "One" }), { type: "turn-cut", id: "t1" });
  assert.deepEqual([cut.turns[0].phase, cut.turns[0].draft], ["cut", "One"]);
  const again = reduce(cut, { type: "turn-resent", id: "t1" });
  assert.deepEqual([again.turns[0].phase, again.turns[0].draft, again.turns[0].question], ["searching", "", "q"]);
});

test("other turns stay the same objects", () => {
  const state = run(asked, { ...asked, id: "t2" });
  const after = reduce(state, streamed({ type: "token", text: "x" }, "t2"));
  assert.equal(after.turns[0], state.turns[0]);
  assert.notEqual(after.turns[1], state.turns[1]);
});

test("an unknown event changes nothing", () => {
  assert.equal(reduce(INITIAL, { type: "nonsense" }), INITIAL);
  assert.equal(reduce(INITIAL, { type: "turn-nonsense", id: "t1" }), INITIAL);
});

test("a stored conversation has the numbers that it had when it was answered", () => {
  const state = run({
    type: "conversation-opened",
    id: "c1",
    answers: [answer({ answer_id: "a1", citations: [citation(2), citation(3)] })],
  });
  assert.deepEqual(
    state.turns[0].citations.map((one) => one.marker),
    [2, 3],
  );
  assert.deepEqual([state.turns[0].phase, state.turns[0].answerId, state.conversationId], ["done", "a1", "c1"]);
});

test("a second citation of a document keeps its pages, and its part where that covers the place", () => {
  const document = { view: "rendition", page_sizes: [] };
  const part = { from: 0, to: 100, length: 500, nodes: [] };
  let state = run(
    { type: "viewer-opened", target: target() },
    { type: "viewer-document", docId: "d1", document },
    { type: "viewer-part", docId: "d1", where: "alone", part },
  );
  state = reduce(state, { type: "viewer-opened", target: target({ ranges: [[50, 60]] }) });
  assert.equal(state.viewer.document, document);
  assert.equal(state.viewer.part, part);
  state = reduce(state, { type: "viewer-opened", target: target({ ranges: [[300, 310]] }) });
  assert.equal(state.viewer.part, null);
  state = reduce(state, { type: "viewer-opened", target: target({ docId: "d2" }) });
  assert.equal(state.viewer.document, null);
});

test("what arrives for a document that is no longer shown is dropped", () => {
  const state = run({ type: "viewer-opened", target: target() });
  assert.equal(reduce(state, { type: "viewer-words", docId: "other", page: 1, words: [] }).viewer, state.viewer);
});

test("another project begins empty but keeps session and projects", () => {
  const state = run({ type: "signed-in" }, { type: "projects", projects: [{ name: "two" }] }, asked, {
    type: "project-chosen",
    name: "two",
  });
  assert.deepEqual([state.project, state.session, state.turns.length, state.projects.length], ["two", "in", 0, 1]);
});

test("failed documents come first, then those under way, then the rest", () => {
  const documents = ["a", "b", "c"].map((path) => ({ path, status: path === "c" ? "failed" : "ready" }));
  const queue = {
    paused: false,
    jobs: [
      { path: "b", state: "embedding" },
      { path: "new", state: "queued" },
    ],
  };
  assert.deepEqual(
    libraryRows(documents, queue).map((row) => row.path),
    ["c", "b", "new", "a"],
  );
});

test("an upload that is told twice is one upload", () => {
  const state = run(
    { type: "upload", upload: { id: "u", name: "a.pdf", state: "sending" } },
    { type: "upload", upload: { id: "u", name: "a.pdf", state: "done" } },
  );
  assert.deepEqual(
    state.uploads.map((one) => one.state),
    ["done"],
  );
});

test("listeners hear of changes only", () => {
  const store = createStore(INITIAL);
  let heard = 0;
  store.subscribe(() => heard++);
  store.dispatch({ type: "nonsense" });
  store.dispatch({ type: "connected" });
  assert.equal(heard, 0);
  store.dispatch({ type: "disconnected" });
  assert.equal(heard, 1);
});
