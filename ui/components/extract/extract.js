// @ts-check
/**
 * A document as the text that was taken from it: its rendition, in parts around the place that is looked at, the range
 * of the citation painted and in sight.
 */

import { h } from "../../js/dom.js";
import { rangesOf } from "../../js/text.js";

const NEAR_PX = 600;
/** A cell of so many characters, such as a code with hyphens, is not broken. */
const SHORT_CHARS = 24;
const PAINTS = ["quote-verified", "quote-unverified", "quote-source"];

/** @typedef {import("../../js/rendition.js").Leaf} Leaf */

/** @param {import("../../js/app.js").Context} ctx */
export function createExtract({ i18n, emit }) {
  const { t } = i18n;
  const article = h("article", { class: "rendition" });
  const label = h("p", { class: "extract-label" });
  const element = h(
    "div",
    {
      class: "extract scrolls",
      tabindex: "0",
      role: "region",
      "aria-label": t("viewer.text"),
      hidden: true,
      on: { scroll: scrolled },
    },
    article,
  );
  /** @type {import("../../js/state.js").Viewer | null} */
  let shown = null;
  /** @type {Leaf[]} */
  let drawn = [];
  let asked = "";

  function scrolled() {
    const part = shown?.part;
    if (!shown || !part) return;
    const key = `${part.from}-${part.to}`;
    if (asked === key) return;
    if (part.to < part.length && element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX) {
      asked = key;
      emit("part-wanted", { docId: shown.target.docId, where: "after", at: part.to });
    } else if (part.from > 0 && element.scrollTop < NEAR_PX) {
      asked = key;
      emit("part-wanted", { docId: shown.target.docId, where: "before", at: part.from });
    }
  }

  /** Draws what is new before and after what stands already. @param {Leaf[]} nodes */
  function draw(nodes) {
    label.remove();
    let head = 0;
    while (head < nodes.length && head < drawn.length && nodes[head] === drawn[head]) head++;
    let tail = 0;
    while (tail < nodes.length - head && tail < drawn.length - head && nodes.at(-1 - tail) === drawn.at(-1 - tail))
      tail++;
    const old = [...article.children];
    const after = old[drawn.length - tail] ?? null;
    for (const gone of old.slice(head, drawn.length - tail)) gone.remove();
    for (const leaf of nodes.slice(head, nodes.length - tail)) article.insertBefore(build(leaf), after);
    drawn = nodes;
  }

  /** Paints the ranges and says so to those who do not see it. @param {boolean} reveal */
  function paint(reveal) {
    label.remove();
    for (const cited of article.querySelectorAll(".cited")) {
      cited.classList.remove("cited");
      cited.removeAttribute("aria-description");
    }
    for (const name of PAINTS) CSS.highlights?.delete(name);
    if (!shown?.part) return;
    const { target } = shown;
    const status = target.status || "source";
    const ranges = target.ranges.flatMap(([start, end]) => rangesOf(article, start, end));
    if (CSS.highlights && ranges.length) CSS.highlights.set(`quote-${status}`, new Highlight(...ranges));
    /** @type {Element | null} */
    let first = null;
    for (const range of ranges) {
      const bearer = range.startContainer.parentElement?.closest("[data-start]");
      if (!bearer) continue;
      bearer.classList.add("cited");
      bearer.setAttribute("data-status", status);
      bearer.setAttribute("aria-description", t(`viewer.cited.${status}`));
      first ??= bearer;
    }
    if (first && status === "unverified") {
      label.textContent = t("viewer.unverified");
      (first.closest("table, dl, ul") ?? first).before(label);
    }
    if (!reveal) return;
    if (!first) element.scrollTop = 0;
    else bring(ranges[0], first);
  }

  /** @param {Range} range @param {Element} bearer */
  function bring(range, bearer) {
    const box = range.getBoundingClientRect();
    const own = element.getBoundingClientRect();
    element.scrollTop += box.top - own.top - element.clientHeight * 0.33;
    const wide = bearer.closest(".rendition-wide");
    if (wide) wide.scrollLeft += box.left - wide.getBoundingClientRect().left - wide.clientWidth * 0.33;
  }

  return {
    element,
    clear() {
      shown = null;
      drawn = [];
      asked = "";
      article.replaceChildren();
      for (const name of PAINTS) CSS.highlights?.delete(name);
    },
    /** @param {import("../../js/state.js").Viewer} viewer */
    render(viewer) {
      const before = shown;
      shown = viewer;
      const other = before?.target.docId !== viewer.target.docId;
      if (other || !viewer.part) {
        article.replaceChildren();
        drawn = [];
      }
      if (!viewer.part) {
        asked = "";
        emit("part-wanted", { docId: viewer.target.docId, where: "alone", at: viewer.target.ranges[0]?.[0] ?? 0 });
        return;
      }
      if (before?.part === viewer.part && before.target === viewer.target && before.mode === viewer.mode) return;
      const reveal = before?.target !== viewer.target || !before.part || before.mode !== viewer.mode || other;
      draw(viewer.part.nodes);
      paint(reveal);
    },
  };
}

/** An element of a leaf: names and text only, from the lists of `rendition.js`. @param {Leaf} leaf @returns {HTMLElement} */
function build(leaf) {
  const { id, ...attributes } = leaf.attributes;
  const element = h(
    leaf.tag,
    attributes,
    leaf.children.map((child) => (typeof child === "string" ? child : build(child))),
  );
  // Ids are the document's own and must not meet those of the page.
  if (id) element.dataset.block = id;
  if ((leaf.tag === "td" || leaf.tag === "th") && (element.textContent?.length ?? 0) <= SHORT_CHARS)
    element.classList.add("short");
  if (leaf.tag !== "table") return element;
  return h("div", { class: "rendition-wide scrolls", tabindex: "0" }, element);
}
