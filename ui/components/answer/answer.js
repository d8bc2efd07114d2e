// @ts-check
/** One question and what became of it, in the order in which it comes: search, sources, words, verdicts. */

import { h, icon, iconButton } from "../../js/dom.js";
import { placeOf } from "../../js/describe.js";
import { isUnderWay } from "../../js/state.js";
import { createCalculation } from "../calculation/calculation.js";
import { createTrace } from "../trace/trace.js";
import { createProse, doubted } from "./prose.js";

/** @typedef {import("../../js/state.js").Turn} Turn */

/** @param {import("../../js/app.js").Context} ctx */
export function createAnswer(ctx) {
  const { t } = ctx.i18n;
  const element = h("article", { class: "turn" });
  /** @type {Turn | null} */
  let shown = null;
  let shownCurrent = -1;

  return {
    element,
    /** @param {Turn} turn @param {number} current the citation that the viewer shows, or -1 */
    render(turn, current) {
      if (turn === shown && current === shownCurrent) return;
      shown = turn;
      shownCurrent = current;
      const kept = keep(element);
      element.setAttribute("aria-label", t("turn.label", { question: turn.question }));
      element.setAttribute("aria-busy", String(isUnderWay(turn)));
      element.dataset.phase = turn.phase;
      element.replaceChildren(
        ...[
          h("h2", { class: "turn-question", dir: "auto" }, turn.question),
          status(ctx, turn),
          sources(ctx, turn),
          turn.answer?.calculation ? createCalculation(ctx, turn, turn.answer.calculation) : null,
          createProse(ctx, turn, current),
          refusal(ctx, turn),
          verdicts(ctx, turn),
          failure(ctx, turn),
          turn.phase === "done" || turn.phase === "stopped" ? createTrace(ctx, turn) : null,
          actions(ctx, turn),
        ].filter((part) => part !== null),
      );
      kept(element);
    },
  };
}

/**
 * What a reader has opened and where the focus is; put back after the turn has been drawn anew.
 * @param {HTMLElement} element
 */
function keep(element) {
  const open = new Set(
    [...element.querySelectorAll("details[open]")].map((one) => /** @type {HTMLElement} */ (one).dataset.fold),
  );
  const focused = element.contains(document.activeElement)
    ? /** @type {HTMLElement} */ (document.activeElement).dataset.key
    : undefined;
  return (/** @type {HTMLElement} */ drawn) => {
    for (const one of drawn.querySelectorAll("details")) if (open.has(one.dataset.fold)) one.open = true;
    if (focused)
      /** @type {HTMLElement | null} */ (drawn.querySelector(`[data-key="${CSS.escape(focused)}"]`))?.focus();
  };
}

/** The line that tells how far the answer is. @param {import("../../js/app.js").Context} ctx @param {Turn} turn */
function status({ i18n }, turn) {
  const { t, number } = i18n;
  const { search } = turn;
  let text = t(`phase.${turn.phase}`);
  if (search && turn.phase !== "cut" && turn.phase !== "failed") {
    const kept = search.results.filter((hit) => hit.kept).length;
    const found =
      search.threshold === null
        ? t("status.found", { count: search.results.length })
        : t("status.weighed", { count: search.results.length, kept, threshold: number(search.threshold, 2) });
    const now = turn.phase === "searching" ? t("phase.reading") : turn.phase === "done" ? "" : text;
    text = [found, now].filter(Boolean).join(" · ");
  }
  return h(
    "p",
    { class: "turn-status", data: { busy: String(isUnderWay(turn)) } },
    h("span", { class: "turn-dot", "aria-hidden": "true" }),
    text,
  );
}

/** @param {import("../../js/app.js").Context} ctx @param {Turn} turn */
function sources({ i18n, emit }, turn) {
  const hits = turn.search?.results.filter((hit) => hit.kept) ?? [];
  if (!hits.length || turn.answer?.refused) return null;
  const items = hits.map((hit, index) => {
    const place = placeOf(i18n, hit);
    const button = h(
      "button",
      {
        type: "button",
        class: "source",
        data: { key: `source-${index}` },
        "aria-label": i18n.t("source.label", { number: index + 1, title: hit.path, place }),
        on: { click: () => emit("source-opened", { turnId: turn.id, index: turn.search?.results.indexOf(hit) ?? 0 }) },
      },
      h("span", { class: "source-number" }, String(index + 1)),
      h("bdi", { class: "source-path" }, hit.path),
      place ? h("span", { class: "source-place soft" }, place) : null,
    );
    return h("li", {}, button);
  });
  return h("ol", { class: "sources", "aria-label": i18n.t("sources.title", { count: hits.length }) }, items);
}

/** @param {import("../../js/app.js").Context} ctx @param {Turn} turn */
function refusal({ i18n, emit }, turn) {
  const { t, number } = i18n;
  const { answer } = turn;
  if (!answer?.refused) return null;
  const miss = answer.near_miss;
  const hints = answer.reason === "empty_index" ? t("refusal.empty") : t("refusal.hint");
  const share = h("span", { class: "trace-meter", "aria-hidden": "true" }, h("span"));
  if (miss) {
    share.style.setProperty("--share", String(miss.score));
    share.style.setProperty("--threshold", String(miss.threshold));
  }
  return h(
    "div",
    { class: "refusal" },
    miss
      ? h(
          "div",
          { class: "refusal-miss" },
          h("p", { class: "refusal-title" }, t("refusal.nearest")),
          h(
            "button",
            {
              type: "button",
              class: "refusal-open",
              data: { key: "miss" },
              on: { click: () => emit("source-opened", { turnId: turn.id, index: 0 }) },
            },
            h("bdi", {}, miss.path),
            h("span", { class: "soft" }, placeOf(i18n, miss)),
          ),
          h("blockquote", { dir: "auto" }, miss.text.replace(/\n{2,}/g, "\n")),
          h(
            "p",
            { class: "refusal-score" },
            share,
            t("refusal.score", { score: number(miss.score, 2), threshold: number(miss.threshold, 2) }),
          ),
        )
      : null,
    h("p", { class: "soft" }, hints),
    h(
      "div",
      { class: "refusal-actions" },
      h(
        "button",
        {
          type: "button",
          class: "button",
          data: { key: "other-words" },
          on: { click: () => emit("other-words", { question: turn.question }) },
        },
        t("refusal.other"),
      ),
    ),
  );
}

/** The badge, and what the program found wanting. @param {import("../../js/app.js").Context} ctx @param {Turn} turn */
function verdicts({ i18n }, turn) {
  const { answer } = turn;
  if (!answer) return null;
  const verified = answer.citations.filter((one) => one.status === "verified").length;
  const all = answer.citations.length;
  const lines = [
    ...new Set(
      doubted(answer).map((citation) =>
        i18n.t("flag.doubted", { number: String(citation.marker), reason: citation.reason }),
      ),
    ),
    ...answer.uncited_figures.map((sentence) => i18n.t("flag.uncited.line", { sentence })),
  ];
  if (!all && !lines.length) return null;
  const kind = verified === all ? "all" : verified ? "some" : "none";
  return h(
    "div",
    { class: "verdicts" },
    all
      ? h(
          "p",
          { class: "badge", data: { kind } },
          h("span", { class: "badge-sign", "aria-hidden": "true" }, verified === all ? "✓" : "!"),
          i18n.t("badge", { count: verified, verified, all }),
        )
      : null,
    lines.length
      ? h(
          "ul",
          { class: "flags" },
          lines.map((line) => h("li", { dir: "auto" }, line)),
        )
      : null,
  );
}

/** @param {import("../../js/app.js").Context} ctx @param {Turn} turn */
function failure({ i18n, emit }, turn) {
  const { t } = i18n;
  if (!["failed", "cut", "stopped"].includes(turn.phase)) return null;
  const again = h(
    "button",
    {
      type: "button",
      class: "button",
      data: { key: "again" },
      on: { click: () => emit("asked-again", { turnId: turn.id }) },
    },
    icon("retry"),
    t("turn.again"),
  );
  const words = turn.failure
    ? [h("strong", {}, turn.failure.message), turn.failure.hint ? h("span", {}, turn.failure.hint) : null]
    : [h("span", {}, t(`phase.${turn.phase}.long`))];
  return h(
    "div",
    { class: "failure", data: { phase: turn.phase } },
    h("p", { class: "failure-words", dir: "auto" }, words),
    again,
  );
}

/** @param {import("../../js/app.js").Context} ctx @param {Turn} turn */
function actions({ i18n, emit }, turn) {
  const { t } = i18n;
  if (turn.phase !== "done" || !turn.answer) return null;
  const { answer } = turn;
  const rate = (/** @type {"good" | "bad"} */ verdict) =>
    iconButton(verdict, t(`feedback.${verdict}`), () => emit("rated", { turnId: turn.id, verdict, comment: "" }), {
      pressed: turn.feedback === verdict,
    });
  const comment = /** @type {HTMLInputElement} */ (
    h("input", {
      class: "field",
      "aria-label": t("feedback.comment"),
      placeholder: t("feedback.comment"),
      maxlength: 2000,
      data: { key: "comment" },
    })
  );
  return h(
    "div",
    { class: "turn-actions" },
    ...(answer.refused
      ? []
      : [iconButton("copy", t("answer.copy"), () => emit("answer-copied", { text: answer.answer }))]),
    ...(turn.answerId ? [rate("good"), rate("bad")] : []),
    turn.feedback === "bad"
      ? h(
          "form",
          {
            class: "feedback",
            on: {
              submit: (event) => {
                event.preventDefault();
                if (comment.value.trim())
                  emit("rated", { turnId: turn.id, verdict: "bad", comment: comment.value.trim() });
                comment.value = "";
              },
            },
          },
          comment,
          h("button", { type: "submit", class: "button" }, t("feedback.send")),
        )
      : null,
  );
}
