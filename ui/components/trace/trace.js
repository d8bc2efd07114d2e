// @ts-check
/** "How this was found": every passage that the search weighed, against the threshold, and what each stage took. */

import { h } from "../../js/dom.js";
import { placeOf } from "../../js/describe.js";

/** The order of the stages in time; others come after them. */
const STAGES = [
  "embed",
  "dense",
  "sparse",
  "bm25",
  "fusion",
  "hybrid",
  "engine",
  "rerank",
  "search",
  "first_token",
  "generate",
  "verify",
  "total",
];

/**
 * @param {import("../../js/app.js").Context} ctx
 * @param {import("../../js/state.js").Turn} turn
 */
export function createTrace({ i18n, emit }, turn) {
  const { t } = i18n;
  const search = turn.search;
  const timings = { ...search?.timings_ms, ...turn.answer?.timings_ms };
  if (!search && !Object.keys(timings).length) return null;
  return h(
    "details",
    { class: "trace", data: { fold: "trace" } },
    h("summary", {}, t("trace.title")),
    h(
      "div",
      { class: "trace-body" },
      search ? summary(i18n, turn, search) : null,
      search?.results.length ? results(i18n, emit, turn, search) : null,
      Object.keys(timings).length ? stages(i18n, timings) : null,
    ),
  );
}

/** @param {import("../../js/i18n.js").I18n} i18n @param {import("../../js/state.js").Turn} turn @param {import("../../js/events.js").Search} search */
function summary({ t, has, number }, turn, search) {
  const kept = search.results.filter((hit) => hit.kept).length;
  const mode = has(`mode.${search.mode}`) ? t(`mode.${search.mode}`) : search.mode;
  return h(
    "dl",
    { class: "trace-facts" },
    search.query !== turn.question ? [h("dt", {}, t("trace.query")), h("dd", { dir: "auto" }, search.query)] : null,
    h("dt", {}, t("trace.mode")),
    h("dd", {}, mode),
    search.threshold === null ? null : [h("dt", {}, t("trace.threshold")), h("dd", {}, number(search.threshold, 2))],
    h("dt", {}, t("trace.kept")),
    h("dd", {}, t("trace.kept.of", { kept, all: search.results.length })),
  );
}

/** @param {import("../../js/i18n.js").I18n} i18n @param {import("../../js/app.js").Emit} emit @param {import("../../js/state.js").Turn} turn @param {import("../../js/events.js").Search} search */
function results(i18n, emit, turn, search) {
  const { t, number } = i18n;
  const top = Math.max(1, ...search.results.map((hit) => hit.score));
  const row = (/** @type {import("../../js/events.js").Hit} */ hit, /** @type {number} */ index) => {
    const meter = h("span", { class: "trace-meter", "aria-hidden": "true" }, h("span"));
    meter.style.setProperty("--share", String(Math.max(0, hit.score / top)));
    if (search.threshold !== null) meter.style.setProperty("--threshold", String(search.threshold / top));
    else meter.dataset.plain = "";
    return h(
      "tr",
      { data: { kept: String(hit.kept) } },
      h("td", { class: "trace-rank" }, String(hit.rank)),
      h(
        "th",
        { scope: "row" },
        h(
          "button",
          {
            type: "button",
            class: "trace-open",
            on: { click: () => emit("source-opened", { turnId: turn.id, index }) },
          },
          h("bdi", {}, hit.path),
          h("span", { class: "soft" }, placeOf(i18n, hit)),
        ),
      ),
      h("td", { class: "trace-score" }, meter, number(hit.score, 2)),
      h("td", {}, hit.kept ? t("trace.hit.kept") : t("trace.hit.dropped")),
    );
  };
  return h(
    "div",
    { class: "trace-scroll scrolls", tabindex: "0", role: "region", "aria-label": t("trace.passages") },
    h(
      "table",
      { class: "trace-table" },
      h("caption", { class: "unseen" }, t("trace.passages")),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ...["rank", "passage", "score", "result"].map((name) => h("th", { scope: "col" }, t(`trace.column.${name}`))),
        ),
      ),
      h("tbody", {}, search.results.map(row)),
    ),
  );
}

/** @param {import("../../js/i18n.js").I18n} i18n @param {Record<string, number>} timings */
function stages(i18n, timings) {
  const order = (/** @type {string} */ name) => (STAGES.indexOf(name) + STAGES.length + 1) % (STAGES.length + 1);
  const names = Object.keys(timings).sort((a, b) => order(a) - order(b));
  return h(
    "ul",
    { class: "trace-stages", "aria-label": i18n.t("trace.stages") },
    names.map((name) =>
      h(
        "li",
        {},
        h("span", {}, i18n.has(`stage.${name}`) ? i18n.t(`stage.${name}`) : name),
        h("b", {}, i18n.duration(timings[name])),
      ),
    ),
  );
}
