// @ts-check
/** The conversation: its questions and answers, or what to do first where there is none yet. */

import { h } from "../../js/dom.js";
import { isUnderWay } from "../../js/state.js";
import { createAnswer } from "../answer/answer.js";

/** How near to the end a reader must be for the page to follow the words. */
const NEAR_PX = 120;

/** @param {import("../../js/app.js").Context} ctx */
export function createChat(ctx) {
  const { i18n } = ctx;
  const list = h("div", { class: "chat-turns" });
  const empty = h("div", { class: "chat-empty" });
  const element = h(
    "main",
    { id: "conversation", class: "chat scrolls", tabindex: "-1", "aria-label": i18n.t("conversation") },
    empty,
    list,
  );
  /** @type {Map<string, ReturnType<typeof createAnswer>>} */
  const answers = new Map();
  let count = 0;

  return {
    element,
    /** @param {import("../../js/state.js").State} state */
    render(state) {
      element.hidden = state.view !== "chat";
      const target = state.viewer?.target;
      const atEnd = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX;
      const wanted = new Set(state.turns.map((turn) => turn.id));
      for (const [id, answer] of answers) {
        if (wanted.has(id)) continue;
        answer.element.remove();
        answers.delete(id);
      }
      for (const turn of state.turns) {
        let answer = answers.get(turn.id);
        if (!answer) {
          answer = createAnswer(ctx);
          answers.set(turn.id, answer);
          list.append(answer.element);
        }
        answer.render(turn, target?.kind === "citation" && target.turnId === turn.id ? target.index : -1);
      }
      empty.hidden = state.turns.length > 0;
      if (!state.turns.length) renderEmpty(ctx, empty, state);
      const asked = state.turns.length > count;
      count = state.turns.length;
      if (asked) answers.get(state.turns.at(-1)?.id ?? "")?.element.scrollIntoView({ block: "start" });
      else if (atEnd && state.turns.some(isUnderWay)) element.scrollTop = element.scrollHeight;
    },
  };
}

/**
 * @param {import("../../js/app.js").Context} ctx @param {HTMLElement} element
 * @param {import("../../js/state.js").State} state
 */
function renderEmpty({ i18n, emit }, element, state) {
  const { t } = i18n;
  const ready = (state.documents ?? []).filter((one) => one.status === "ready").length;
  const waiting = state.queue.jobs.length;
  const folder = state.projects.find((one) => one.name === state.project)?.folder ?? "";
  const key = JSON.stringify([
    state.documents === null,
    ready,
    waiting,
    folder,
    state.queue.paused,
    state.health?.problems,
    state.health?.warnings,
  ]);
  if (element.dataset.key === key) return;
  element.dataset.key = key;
  const toDocuments = h(
    "button",
    { type: "button", class: "button primary", on: { click: () => emit("view-chosen", { view: "documents" }) } },
    t("empty.to_documents"),
  );
  const problems = [...(state.health?.problems ?? []), ...(state.health?.warnings ?? [])].map(
    (/** @type {string} */ problem) => h("li", { dir: "auto" }, ...commandParts(problem)),
  );
  const content =
    state.documents === null
      ? [h("p", { class: "soft" }, t("loading"))]
      : ready
        ? [
            h("h1", {}, t("empty.ask", { count: ready })),
            h("p", { class: "soft" }, t("empty.ask.how")),
            h(
              "ul",
              { class: "chat-legend" },
              ["verified", "unverified", "rejected"].map((status, n) =>
                h(
                  "li",
                  {},
                  h(
                    "span",
                    { class: "chip", "aria-hidden": "true", data: { status } },
                    h("span", { class: "chip-number" }, String(n + 1)),
                  ),
                  t(`legend.${status}`),
                ),
              ),
            ),
          ]
        : waiting
          ? [
              h("h1", {}, t("empty.indexing", { count: waiting })),
              h("p", { class: "soft" }, t(state.queue.paused ? "empty.paused" : "empty.indexing.how")),
              toDocuments,
            ]
          : [
              h("h1", {}, t("empty.none")),
              h(
                "p",
                {},
                i18n.parts("empty.none.how", {
                  folder: folder ? h("code", { dir: "ltr" }, folder) : t("empty.folder"),
                }),
              ),
              h("p", { class: "soft" }, t("empty.formats")),
              toDocuments,
            ];
  element.replaceChildren(
    ...content,
    ...(problems.length ? [h("ul", { class: "chat-problems", "aria-label": t("problems") }, problems)] : []),
  );
}

/** A sentence of the service with its commands, which stand in backquotes, as code. @param {string} text */
function commandParts(text) {
  return text.split(/`([^`]+)`/).map((piece, n) => (n % 2 ? h("code", { dir: "ltr" }, piece) : piece));
}
