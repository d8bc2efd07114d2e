// @ts-check
/** What a screen reader is told: that a search runs, what it found, that the answer is there. Never each word. */

import { placeOf } from "./describe.js";

/** @param {HTMLElement} live @param {import("./i18n.js").I18n} i18n */
export function createSpeaker(live, i18n) {
  const { t } = i18n;
  const notice = live;
  let phase = "";
  let target = 0;
  let serial = 0;

  /** @param {string} text */
  function say(text) {
    if (text) notice.textContent = text;
  }

  /** @param {import("./state.js").Turn} turn */
  function turnText(turn) {
    if (turn.phase === "searching")
      return turn.search ? t("status.found", { count: turn.search.results.length }) : t("phase.searching");
    if (turn.phase === "done" && turn.answer) {
      const all = turn.answer.citations.length;
      const verified = turn.answer.citations.filter((one) => one.status === "verified").length;
      return turn.answer.refused
        ? turn.answer.answer
        : [t("said.done"), all ? t("badge", { count: verified, verified, all }) : ""].filter(Boolean).join(". ");
    }
    return turn.phase === "writing" ? "" : (turn.failure?.message ?? t(`phase.${turn.phase}`));
  }

  return {
    /** @param {import("./state.js").State} state */
    render(state) {
      const turn = state.turns.at(-1);
      const now = turn ? `${turn.id} ${turn.phase} ${turn.search ? 1 : 0}` : "";
      if (now !== phase) {
        // An old conversation that is opened has been said by its own heading.
        if (turn && (phase.startsWith(`${turn.id} `) || turn.phase !== "done")) say(turnText(turn));
        phase = now;
      }
      const viewed = state.viewer?.target;
      if (viewed && viewed.serial !== target)
        say(
          t("said.opened", {
            title: viewed.path || t("viewer.nothing"),
            place: placeOf(i18n, { page: viewed.page, table: viewed.citation?.table }),
          }),
        );
      target = viewed?.serial ?? 0;
      if (state.notice.serial !== serial) say(state.notice.text);
      serial = state.notice.serial;
    },
  };
}
