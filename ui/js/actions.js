// @ts-check
/**
 * What happens when a component says that something was done: calls of the service, and the events that tell the
 * state what came of them. Components know none of this.
 */

import { ApiError, isAbort } from "./api.js";
import { citationTarget, documentTarget, placeTarget, sourceTarget } from "./targets.js";

const PART_CHARS = 20_000;
const BEFORE_CHARS = 6_000;

/** @typedef {import("./state.js").State} State */

/**
 * @param {{api: import("./api.js").Api, store: import("./state.js").Store, connection: import("./connection.js").Connection,
 *   page: import("./app.js").Page}} parts
 * @returns {Record<string, (detail: any) => unknown>}
 */
export function createActions({ api, store, connection, page }) {
  const { dispatch, get } = store;
  /** @type {Map<string, AbortController>} */
  const streams = new Map();
  let turns = 0;

  /**
   * Runs a call; what fails is said in one line, and a lost session or service is noticed.
   * @template T @param {() => Promise<T>} call @returns {Promise<T | undefined>}
   */
  async function attempt(call) {
    try {
      return await call();
    } catch (error) {
      if (!connection.notice(error)) say(error);
      return undefined;
    }
  }

  /** @param {unknown} error */
  function say(error) {
    const { message, hint } = /** @type {ApiError} */ (error);
    dispatch({ type: "notice", text: [message, hint].filter(Boolean).join(" · "), bad: true });
  }

  const refreshConversations = () =>
    attempt(async () => dispatch({ type: "conversations", conversations: await api.conversations() }));
  const refreshDocuments = () => attempt(async () => dispatch({ type: "documents", documents: await api.documents() }));

  /** @param {string} id @param {string} question */
  async function stream(id, question) {
    const controller = new AbortController();
    streams.set(id, controller);
    const project = get().project;
    try {
      const body = { question, ...(get().conversationId ? { conversation_id: get().conversationId } : {}) };
      for await (const event of api.ask(body, controller.signal)) {
        if (get().project !== project) return;
        dispatch({ type: "turn-streamed", id, event });
        if (event.type === "done") await ended(event);
      }
    } catch (error) {
      if (isAbort(error)) return;
      const begun = get().turns.find((turn) => turn.id === id)?.search;
      if (connection.notice(error)) dispatch({ type: begun ? "turn-cut" : "turn-held", id });
      else
        dispatch({
          type: "turn-failed",
          id,
          failure:
            error instanceof ApiError
              ? { code: error.code, message: error.message, hint: error.hint }
              : { code: "internal", message: String(error), hint: "" },
        });
    } finally {
      streams.delete(id);
    }
  }

  /** @param {{answer: import("./events.js").Answer, conversation_id?: string}} event */
  async function ended({ answer, conversation_id }) {
    const id = conversation_id ?? answer.conversation_id;
    if (!id) return;
    dispatch({ type: "conversation-named", id });
    await refreshConversations();
  }

  /** @param {import("./state.js").Target | null} target */
  async function open(target) {
    if (!target) return;
    page.remember();
    dispatch({ type: "viewer-opened", target });
    if (!target.docId) {
      if (target.status !== "rejected") dispatch({ type: "viewer-failed", code: "not_found" });
      return;
    }
    const { docId } = target;
    if (!get().viewer?.document) {
      try {
        dispatch({ type: "viewer-document", docId, document: await api.document(docId) });
      } catch (error) {
        connection.notice(error);
        dispatch({ type: "viewer-failed", docId, code: /** @type {ApiError} */ (error).code });
        return;
      }
    }
    const shown = get().viewer;
    if (shown?.document?.view === "pages" && target.ranges.length && !target.boxes.length) {
      const place = await attempt(() => api.locate(docId, target.ranges));
      if (place?.boxes.length && get().viewer?.target === target)
        dispatch({ type: "viewer-located", docId, boxes: place.boxes });
    }
  }

  /** @param {string} id */
  const turnOf = (id) => get().turns.find((turn) => turn.id === id);

  /** @param {File} file @param {string} id @param {boolean} overwrite */
  async function upload(file, id, overwrite) {
    const told = (/** @type {object} */ change) =>
      dispatch({ type: "upload", upload: { id, name: file.name, size: file.size, message: "", code: "", ...change } });
    told({ state: "sending" });
    try {
      await api.upload(file, { overwrite });
      files.delete(id);
      told({ state: "done" });
    } catch (error) {
      const { code, message, hint, status } = /** @type {ApiError} */ (error);
      connection.notice(error);
      told({
        state: "failed",
        code: status === 409 ? "exists" : code,
        message: [message, hint].filter(Boolean).join(" · "),
      });
    }
  }
  /** @type {Map<string, File>} */
  const files = new Map();

  return {
    asked({ question }) {
      const id = `turn-${++turns}`;
      dispatch({ type: "asked", id, question });
      return stream(id, question);
    },
    "asked-again"({ turnId }) {
      const turn = turnOf(turnId);
      if (!turn) return undefined;
      dispatch({ type: "turn-resent", id: turnId });
      return stream(turnId, turn.question);
    },
    /** Questions that waited for the service. */
    async "held-sent"() {
      for (const turn of get().turns.filter((one) => one.phase === "waiting")) {
        dispatch({ type: "turn-resent", id: turn.id });
        await stream(turn.id, turn.question);
      }
    },
    stopped() {
      for (const [id, controller] of streams) {
        controller.abort();
        dispatch({ type: "turn-stopped", id });
      }
    },
    "other-words": ({ question }) => page.fill(question),
    "answer-copied": async ({ text }) => {
      try {
        await navigator.clipboard.writeText(text);
        dispatch({ type: "notice", text: page.t("answer.copied") });
      } catch {
        dispatch({ type: "notice", text: page.t("answer.not_copied"), bad: true });
      }
    },
    async rated({ turnId, verdict, comment }) {
      const turn = turnOf(turnId);
      if (!turn?.answerId) return;
      await attempt(async () => {
        await api.feedback(turn.answerId, verdict, comment);
        dispatch({ type: "turn-rated", id: turnId, verdict });
        dispatch({ type: "notice", text: page.t("feedback.thanks") });
      });
    },

    "citation-opened"({ turnId, index }) {
      const turn = turnOf(turnId);
      return turn ? open(citationTarget(get(), turn, index)) : undefined;
    },
    "source-opened"({ turnId, index }) {
      const turn = turnOf(turnId);
      return turn ? open(sourceTarget(get(), turn, index)) : undefined;
    },
    "place-opened"({ turnId, citation, ...place }) {
      const turn = turnOf(turnId);
      if (!turn) return undefined;
      return open(
        citation === null || citation === undefined
          ? placeTarget(get(), turn, place)
          : citationTarget(get(), turn, citation),
      );
    },
    async "document-opened"({ docId, path, mode }) {
      await open(documentTarget(docId, path));
      if (mode) dispatch({ type: "viewer-mode", mode });
    },
    "citation-step"({ by }) {
      const target = get().viewer?.target;
      const turn = target && turnOf(target.turnId);
      const index = (target?.index ?? 0) + by;
      if (turn && target?.kind === "citation" && turn.citations[index]) return open(citationTarget(get(), turn, index));
      return undefined;
    },
    "viewer-mode"() {
      dispatch({ type: "viewer-mode", mode: get().viewer?.mode === "pages" ? "rendition" : "pages" });
    },
    zoomed: ({ zoom }) => dispatch({ type: "viewer-zoomed", zoom }),
    "viewer-closed"() {
      dispatch({ type: "viewer-closed" });
      page.restore();
    },
    "words-wanted": ({ docId, page: number }) =>
      attempt(async () =>
        dispatch({ type: "viewer-words", docId, page: number, words: await api.words(docId, number) }),
      ),
    async "part-wanted"({ docId, where, at }) {
      const [start, end] =
        where === "before"
          ? [Math.max(0, at - PART_CHARS), at]
          : where === "after"
            ? [at, at + PART_CHARS]
            : [Math.max(0, at - BEFORE_CHARS), at + PART_CHARS];
      try {
        dispatch({ type: "viewer-part", docId, where, part: await api.rendition(docId, start, end) });
      } catch (error) {
        connection.notice(error);
        dispatch({ type: "viewer-failed", docId, code: /** @type {ApiError} */ (error).code });
      }
    },

    "view-chosen": ({ view }) => {
      dispatch({ type: "view-chosen", view });
      if (view === "documents") return refreshDocuments();
      return undefined;
    },
    "sidebar-toggled": () => dispatch({ type: "sidebar", open: !get().sidebar }),
    "conversation-new"() {
      for (const controller of streams.values()) controller.abort();
      dispatch({ type: "conversation-begun" });
      page.focusQuestion();
    },
    "conversation-chosen": ({ id }) =>
      attempt(async () => {
        for (const controller of streams.values()) controller.abort();
        const { answers } = await api.conversation(id);
        dispatch({ type: "conversation-opened", id, answers });
      }),
    "conversation-removed": ({ id }) =>
      attempt(async () => {
        await api.removeConversation(id);
        if (get().conversationId === id) dispatch({ type: "conversation-begun" });
        await refreshConversations();
      }),
    "conversations-wanted": refreshConversations,

    "documents-wanted": refreshDocuments,
    "queue-controlled": ({ action, path }) =>
      attempt(async () => {
        dispatch({ type: "queue", queue: await api.control(action, path) });
        await refreshDocuments();
      }),
    async "files-given"({ files: given }) {
      if (!given.length) return;
      dispatch({ type: "view-chosen", view: "documents" });
      dispatch({ type: "uploads-cleared" });
      // One after the other: the disk and the reader are served better than by all at once.
      for (const file of given) {
        const id = `upload-${++turns}`;
        files.set(id, file);
        await upload(file, id, false);
      }
      const added = new Set(
        get()
          .uploads.filter((one) => one.state === "done")
          .map((one) => one.name),
      );
      await connection.watchFor([...added]);
    },
    async "upload-again"({ id }) {
      const file = files.get(id);
      if (!file) return;
      await upload(file, id, true);
      await connection.watchFor([file.name]);
    },

    "project-chosen": ({ name }) => {
      for (const controller of streams.values()) controller.abort();
      dispatch({ type: "project-chosen", name });
      return connection.load();
    },
    "project-added": ({ name, folder }) =>
      attempt(async () => {
        await api.addProject(name, folder);
        dispatch({ type: "projects", projects: await api.projects() });
        dispatch({ type: "project-chosen", name });
        await connection.load();
      }),
    "project-removed": ({ name }) =>
      attempt(async () => {
        await api.removeProject(name);
        dispatch({ type: "project-chosen", name: "default" });
        await connection.load();
      }),

    "signed-in-with": ({ code }) => connection.signIn(code),
    reconnect: () => connection.retry(),
    "language-chosen": ({ language }) => page.speak(language),
    "theme-chosen": ({ theme }) => page.wear(theme),
  };
}
