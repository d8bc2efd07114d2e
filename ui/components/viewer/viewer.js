// @ts-check
/** The original beside the answer: which file and place, the verdict in words, and the page or text itself. */

import { h, icon, iconButton } from "../../js/dom.js";
import { placeOf, verdictOf } from "../../js/describe.js";
import { FIT, ZOOMS } from "../../js/state.js";
import { createExtract } from "../extract/extract.js";
import { createPages } from "../pages/pages.js";

/** @param {import("../../js/app.js").Context} ctx */
export function createViewer(ctx) {
  const { i18n, emit, urls } = ctx;
  const { t } = i18n;
  const back = iconButton("previous", t("viewer.back"), () => emit("viewer-closed"), {
    mirrors: true,
    class: "viewer-back",
  });
  const title = h("h2", { class: "viewer-title", id: "viewer-title" });
  const place = h("p", { class: "viewer-place soft" });
  const out = iconButton("minus", t("viewer.smaller"), () => zoomBy(-1));
  const into = iconButton("plus", t("viewer.larger"), () => zoomBy(1));
  const percent = h("output", { class: "viewer-percent", "aria-label": t("viewer.zoom") });
  const fit = iconButton("fit", t("viewer.fit"), () => emit("zoomed", { zoom: FIT }));
  const zoom = h(
    "div",
    { class: "viewer-zoom", role: "group", "aria-label": t("viewer.zoom") },
    out,
    percent,
    into,
    fit,
  );
  const other = h("button", {
    type: "button",
    class: "button quiet viewer-other",
    on: { click: () => emit("viewer-mode", {}) },
  });
  const original = h(
    "a",
    { class: "icon-button", download: "", "aria-label": t("viewer.original"), title: t("viewer.original") },
    icon("download"),
  );
  const close = iconButton("close", t("viewer.close"), () => emit("viewer-closed"), { class: "viewer-close" });
  const verdict = h("div", { class: "viewer-verdict" });
  const previous = iconButton("previous", t("viewer.previous"), () => emit("citation-step", { by: -1 }), {
    mirrors: true,
  });
  const next = iconButton("next", t("viewer.next"), () => emit("citation-step", { by: 1 }), { mirrors: true });
  const counter = h("span", { class: "viewer-counter" });
  const walk = h(
    "div",
    { class: "viewer-walk", role: "group", "aria-label": t("viewer.citations") },
    previous,
    counter,
    next,
  );
  const message = h("div", { class: "viewer-message" });
  const pages = createPages(ctx, (scale) => showScale(scale));
  const extract = createExtract(ctx);
  const element = h(
    "aside",
    {
      class: "viewer",
      id: "viewer",
      tabindex: "-1",
      "aria-labelledby": "viewer-title",
      hidden: true,
      on: { keydown: pressed },
    },
    h(
      "header",
      { class: "viewer-head" },
      back,
      h("div", { class: "viewer-names" }, title, place),
      other,
      original,
      close,
    ),
    h("div", { class: "viewer-tools" }, verdict, walk),
    h("div", { class: "viewer-body" }, pages.element, extract.element, message, zoom),
  );
  /** @type {import("../../js/state.js").Viewer | null} */
  let shown = null;
  let citations = -1;
  let scale = 1;

  /** @param {number} by */
  function zoomBy(by) {
    const now = scale;
    const larger = ZOOMS.find((one) => one > now + 0.01);
    const smaller = [...ZOOMS].reverse().find((one) => one < now - 0.01);
    const wanted = by > 0 ? larger : smaller;
    if (wanted) emit("zoomed", { zoom: wanted });
  }

  /** @param {number} now */
  function showScale(now) {
    scale = now;
    percent.textContent = `${Math.round(now * 100)} %`;
    out.toggleAttribute("disabled", now <= ZOOMS[0] + 0.01);
    into.toggleAttribute("disabled", now >= (ZOOMS.at(-1) ?? 1) - 0.01);
  }

  /** Keys that count only while the focus is in the viewer. @param {KeyboardEvent} event */
  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const does = {
      "+": () => zoomBy(1),
      "=": () => zoomBy(1),
      "-": () => zoomBy(-1),
      0: () => emit("zoomed", { zoom: FIT }),
      n: () => emit("citation-step", { by: 1 }),
      p: () => emit("citation-step", { by: -1 }),
    }[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  }

  return {
    element,
    /** @param {import("../../js/state.js").State} state */
    render(state) {
      const { viewer } = state;
      element.hidden = !viewer;
      const turn = viewer && state.turns.find((one) => one.id === viewer.target.turnId);
      const all = viewer?.target.kind === "citation" ? (turn?.citations.length ?? 0) : 0;
      if (viewer === shown && all === citations) return;
      shown = viewer;
      citations = all;
      if (!viewer) {
        pages.clear();
        extract.clear();
        return;
      }
      const { target } = viewer;
      title.replaceChildren(h("bdi", {}, target.path || t("viewer.nothing")));
      title.title = target.path;
      place.textContent = placeText(i18n, viewer);
      const rejected = target.status === "rejected";
      const showsPages = viewer.document?.view === "pages" && viewer.mode === "pages";
      const showsText = !!viewer.document && !rejected && !showsPages;
      zoom.hidden = !showsPages;
      other.hidden = viewer.document?.view !== "pages";
      other.textContent = t(viewer.mode === "pages" ? "viewer.show_text" : "viewer.show_pages");
      original.hidden = !target.docId;
      if (target.docId) original.setAttribute("href", urls.original(target.docId));
      renderVerdict(viewer);
      walk.hidden = all < 1;
      counter.textContent = t("viewer.counter", { now: target.index + 1, all });
      previous.toggleAttribute("disabled", target.index <= 0);
      next.toggleAttribute("disabled", target.index >= all - 1);
      message.replaceChildren(...messageFor(viewer, rejected));
      message.hidden = showsPages || showsText || !message.childNodes.length;
      pages.element.hidden = !showsPages;
      extract.element.hidden = !showsText;
      if (showsPages) pages.render(viewer);
      if (showsText) extract.render(viewer);
      else if (!viewer.document) extract.clear();
    },
  };

  /** @param {import("../../js/state.js").Viewer} viewer */
  function renderVerdict({ target }) {
    const { citation } = target;
    verdict.dataset.status = target.status;
    verdict.hidden = target.kind === "document";
    if (citation) {
      const shape = h(
        "span",
        { class: "chip", "aria-hidden": "true", data: { status: citation.status } },
        h("span", { class: "chip-number" }, String(citation.marker)),
      );
      verdict.replaceChildren(
        shape,
        h(
          "p",
          {},
          verdictOf(i18n, citation),
          citation.occurrences > 1 ? ` ${t("chip.occurrences", { count: citation.occurrences })}` : null,
        ),
      );
    } else verdict.replaceChildren(h("p", { class: "soft" }, t("viewer.source", { number: target.marker })));
  }

  /** @param {import("../../js/state.js").Viewer} viewer @param {boolean} rejected */
  function messageFor(viewer, rejected) {
    if (rejected)
      return [
        h(
          "div",
          { class: "viewer-rejected" },
          h("strong", {}, t("viewer.rejected")),
          h(
            "p",
            { dir: "auto" },
            viewer.target.citation?.reason || t("viewer.rejected.why", { number: viewer.target.marker }),
          ),
        ),
      ];
    if (viewer.failure)
      return [
        h(
          "p",
          {},
          i18n.has(`viewer.error.${viewer.failure}`) ? t(`viewer.error.${viewer.failure}`) : t("viewer.error"),
        ),
      ];
    return viewer.document ? [] : [h("p", { class: "soft" }, t("loading"))];
  }
}

/** @param {import("../../js/i18n.js").I18n} i18n @param {import("../../js/state.js").Viewer} viewer */
function placeText(i18n, { target, document: shown }) {
  const all = shown?.page_sizes.length ?? 0;
  const page = target.page && all ? i18n.t("place.page_of", { page: String(target.page), all: String(all) }) : "";
  const rest = placeOf(i18n, { page: page ? null : target.page, table: target.citation?.table ?? null });
  return [page, rest].filter(Boolean).join(" · ");
}
