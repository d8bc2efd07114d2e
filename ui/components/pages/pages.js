// @ts-check
/**
 * A document as pictures of its pages. Only pages in sight and their neighbours are loaded, at the size of the
 * screen's own pixels; a transparent layer of words lies over each, and the quoted words are boxed.
 */

import { h } from "../../js/dom.js";
import { FIT, LEGIBLE } from "../../js/state.js";

const CSS_PX_PER_POINT = 96 / 72;
const GUTTER_PX = 32;
/** Below this the words of a usual page cannot be read; then it is shown at the other scale. */
const LEAST_LEGIBLE = 0.6;
const LEGIBLE_SCALE = 0.8;
const SETTLE_MS = 150;
/** Where the quoted words come to stand, as a share of the height that is seen. */
const EYE = 0.33;

/**
 * @param {import("../../js/app.js").Context} ctx
 * @param {(scale: number) => void} onScale told the zoom that is in effect
 */
export function createPages({ i18n, emit, urls }, onScale) {
  const { t } = i18n;
  // Page pictures are not mirrored: the layer inside is always from left to right.
  const sheet = h("div", { class: "pages-sheet", dir: "ltr" });
  const element = h(
    "div",
    { class: "pages scrolls", tabindex: "0", role: "region", "aria-label": t("viewer.pages"), hidden: true },
    sheet,
  );
  /** @type {import("../../js/state.js").Viewer | null} */
  let shown = null;
  /** @type {Map<number, ReturnType<typeof createPage>>} */
  const pages = new Map();
  /** @type {Set<number>} */
  const near = new Set();
  let settling = 0;
  let width = 0;

  const watcher = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        const number = Number(/** @type {HTMLElement} */ (entry.target).dataset.page);
        const page = pages.get(number);
        if (!page) continue;
        if (entry.isIntersecting) {
          near.add(number);
          load(number, page);
        } else {
          near.delete(number);
          page.unload();
        }
      }
    },
    { root: element, rootMargin: "60% 0px" },
  );
  new ResizeObserver(() => {
    if (!shown || element.clientWidth === width || !element.clientWidth) return;
    const first = width === 0;
    measure();
    if (first) reveal();
  }).observe(element);

  /** @param {number} number @param {ReturnType<typeof createPage>} page */
  function load(number, page) {
    if (!shown) return;
    const { docId } = shown.target;
    page.picture((px) => urls.pageImage(docId, number, px));
    const words = shown.words[number];
    if (words) page.text(words);
    else emit("words-wanted", { docId, page: number });
  }

  /** The width of a page on the screen. @param {import("../../js/events.js").PageSize} size */
  function pageWidth(size) {
    const room = Math.max(80, element.clientWidth - GUTTER_PX);
    const natural = size.width * CSS_PX_PER_POINT;
    const zoom = shown?.zoom ?? FIT;
    if (zoom > 0) return natural * zoom;
    const fitting = Math.min(room, natural * 2);
    return zoom === LEGIBLE && fitting < natural * LEAST_LEGIBLE ? natural * LEGIBLE_SCALE : fitting;
  }

  /** Sizes of all pages, keeping the place that is looked at. */
  function measure() {
    if (!shown?.document) return;
    width = element.clientWidth;
    const eye = element.scrollTop + element.clientHeight * EYE;
    const anchor = [...pages.values()].find((page) => page.element.offsetTop + page.element.offsetHeight > eye);
    const share = anchor ? (eye - anchor.element.offsetTop) / Math.max(1, anchor.element.offsetHeight) : 0;
    for (const size of shown.document.page_sizes) pages.get(size.number)?.size(pageWidth(size), size);
    if (anchor)
      element.scrollTop = anchor.element.offsetTop + share * anchor.element.offsetHeight - element.clientHeight * EYE;
    const current =
      shown.document.page_sizes.find((size) => size.number === shown?.target.page) ?? shown.document.page_sizes[0];
    if (current) onScale(pageWidth(current) / (current.width * CSS_PX_PER_POINT));
    clearTimeout(settling);
    settling = window.setTimeout(() => {
      for (const number of near) {
        const page = pages.get(number);
        if (page) load(number, page);
      }
    }, SETTLE_MS);
  }

  function build() {
    watcher.disconnect();
    near.clear();
    pages.clear();
    const all = shown?.document?.page_sizes ?? [];
    for (const size of all) {
      const page = createPage(i18n, size.number, all.length);
      pages.set(size.number, page);
    }
    sheet.replaceChildren(...[...pages.values()].map((page) => page.element));
    width = 0;
    measure();
    for (const page of pages.values()) watcher.observe(page.element);
  }

  /** Brings the quoted words, or the page, into sight. */
  function reveal() {
    if (!shown) return;
    const { target } = shown;
    const box = target.boxes[0];
    const page = pages.get(box?.page ?? target.page ?? 1);
    if (!page) return;
    const top = page.element.offsetTop + (box ? box.y0 * page.element.offsetHeight : 0);
    element.scrollTop = box ? top - element.clientHeight * EYE : top - GUTTER_PX / 2;
    if (box)
      element.scrollLeft = page.element.offsetLeft + box.x0 * page.element.offsetWidth - element.clientWidth * EYE;
  }

  return {
    element,
    clear() {
      shown = null;
      watcher.disconnect();
      pages.clear();
      near.clear();
      sheet.replaceChildren();
    },
    /** @param {import("../../js/state.js").Viewer} viewer */
    render(viewer) {
      const before = shown;
      shown = viewer;
      if (before?.document !== viewer.document || !pages.size) build();
      else if (before.zoom !== viewer.zoom) measure();
      if (before?.words !== viewer.words) {
        for (const number of near)
          if (viewer.words[number] && viewer.words[number] !== before?.words[number])
            pages.get(number)?.text(viewer.words[number]);
      }
      if (before?.target !== viewer.target || before?.document !== viewer.document || before?.mode !== viewer.mode) {
        for (const [number, page] of pages)
          page.mark(
            viewer.target.boxes.filter((box) => box.page === number),
            viewer.target.status,
          );
        reveal();
      }
    },
  };
}

/** @param {import("../../js/i18n.js").I18n} i18n @param {number} number @param {number} all */
function createPage({ t }, number, all) {
  const image = /** @type {HTMLImageElement} */ (
    h("img", { class: "page-image", alt: "", draggable: "false", decoding: "async" })
  );
  const layer = h("div", { class: "page-text" });
  const marks = h("div", { class: "page-marks" });
  const broken = h("p", { class: "page-broken", hidden: true }, t("viewer.page_failed"));
  const element = h(
    "div",
    {
      class: "page",
      role: "group",
      data: { page: number },
      "aria-label": t("place.page_of", { page: String(number), all: String(all) }),
    },
    image,
    broken,
    marks,
    layer,
  );
  let px = 0;
  let address = "";
  /** @type {import("../../js/events.js").Word[] | null} */
  let words = null;

  image.addEventListener("error", () => {
    if (!image.getAttribute("src")) return;
    broken.hidden = false;
    address = "";
  });
  image.addEventListener("load", () => {
    broken.hidden = true;
    element.dataset.loaded = "";
  });

  return {
    element,
    /** @param {number} width_px @param {import("../../js/events.js").PageSize} size */
    size(width_px, size) {
      px = width_px;
      element.style.inlineSize = `${width_px}px`;
      element.style.blockSize = `${(width_px * size.height) / size.width}px`;
      if (words) layOut(layer, words, width_px, (width_px * size.height) / size.width);
    },
    /** @param {(px: number) => string} source */
    picture(source) {
      const wanted = source(px * (window.devicePixelRatio || 1));
      if (wanted === address) return;
      address = wanted;
      image.src = wanted;
    },
    /** @param {import("../../js/events.js").Word[]} given */
    text(given) {
      if (given === words) return;
      words = given;
      layOut(layer, given, element.offsetWidth, element.offsetHeight);
    },
    unload() {
      address = "";
      image.removeAttribute("src");
      delete element.dataset.loaded;
      words = null;
      layer.replaceChildren();
    },
    /** @param {import("../../js/events.js").Box[]} boxes @param {string} status */
    mark(boxes, status) {
      marks.replaceChildren(
        ...boxes.map((box, index) => {
          const mark = h(
            "div",
            { class: "page-mark", data: { status: status || "source" } },
            status === "unverified" && index === 0
              ? h("span", { class: "page-mark-label" }, t("viewer.unverified"))
              : null,
          );
          mark.style.left = `${box.x0 * 100}%`;
          mark.style.top = `${box.y0 * 100}%`;
          mark.style.width = `${(box.x1 - box.x0) * 100}%`;
          mark.style.height = `${(box.y1 - box.y0) * 100}%`;
          return mark;
        }),
      );
    },
  };
}

const RULER = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));

/**
 * Words as text over their picture, each as wide as its box. In the order of the document, with the spaces and line
 * ends that a copy needs.
 * @param {HTMLElement} layer @param {import("../../js/events.js").Word[]} words @param {number} width @param {number} height
 */
function layOut(layer, words, width, height) {
  RULER.font = "10px sans-serif";
  layer.replaceChildren(
    ...words.map((word, index) => {
      const box = { width: (word.x1 - word.x0) * width, height: (word.y1 - word.y0) * height };
      // On a page that is turned, words stand upright in their boxes.
      const upright = box.height > 1.5 * box.width && word.text.length > 2;
      const [along, across] = upright ? [box.height, box.width] : [box.width, box.height];
      const size = Math.max(1, across * 0.9);
      const natural = (RULER.measureText(word.text).width * size) / 10 || 1;
      const next = words[index + 1];
      const ends = !next || next.y0 >= word.y1 || next.y1 <= word.y0;
      const span = h("span", { dir: "auto" }, word.text + (ends ? "\n" : " "));
      span.style.left = `${word.x0 * 100}%`;
      span.style.top = `${word.y0 * 100}%`;
      span.style.fontSize = `${size}px`;
      span.style.transform = upright
        ? `translateX(${across}px) rotate(90deg) scaleX(${along / natural})`
        : `scaleX(${along / natural})`;
      return span;
    }),
  );
}
