// @ts-check
/**
 * A citation in a line of text: a button with its number, whose shape and colour tell the verdict, and the card that
 * shows file, place, quote and verdict while it is pointed at or has the focus.
 */

import { h } from "../../js/dom.js";
import { placeOf, verdictOf } from "../../js/describe.js";

/**
 * @typedef {import("../../js/events.js").Citation} Citation
 * @param {import("../../js/app.js").Context} ctx
 * @param {{number: number, citation: Citation | null, hit: import("../../js/events.js").Hit | null,
 *   key: string, open: () => void, current: boolean}} chip `hit` names the source while there is no verdict
 */
export function createChip({ i18n, card }, { number, citation, hit, key, open, current }) {
  const { t } = i18n;
  const status = citation?.status ?? "pending";
  const place = citation ? placeOf(i18n, citation) : hit ? placeOf(i18n, hit) : "";
  const path = citation?.path || hit?.path || "";
  const label = path
    ? t("chip.label", { number, title: path, place, verdict: t(`verdict.${status}`) })
    : t("chip.label.none", { number, verdict: t(`verdict.${status}`) });
  const button = h(
    "button",
    {
      type: "button",
      class: "chip",
      "aria-label": label,
      "aria-current": current ? "true" : undefined,
      data: { status, key, number },
      on: { click: open },
    },
    h("span", { class: "chip-number", "aria-hidden": "true" }, String(number)),
  );
  if (citation || hit) card.attach(button, () => cardContent(i18n, citation, hit));
  return button;
}

/**
 * @param {import("../../js/i18n.js").I18n} i18n
 * @param {Citation | null} citation @param {import("../../js/events.js").Hit | null} hit
 */
function cardContent(i18n, citation, hit) {
  const { t } = i18n;
  const source = citation ?? hit;
  const quote = citation ? citation.quote : (hit?.text ?? "");
  const place = citation ? placeOf(i18n, citation) : hit ? placeOf(i18n, hit) : "";
  return [
    source?.path
      ? h("p", { class: "card-file" }, h("bdi", {}, source.path), place ? h("span", { class: "soft" }, place) : null)
      : null,
    quote ? h("blockquote", { class: "card-quote", dir: "auto" }, quote.replace(/\n{2,}/g, "\n").slice(0, 600)) : null,
    citation ? h("p", { class: "card-verdict", data: { status: citation.status } }, verdictOf(i18n, citation)) : null,
    citation?.added ? h("p", { class: "soft" }, t("chip.added")) : null,
    citation && citation.occurrences > 1
      ? h("p", { class: "soft" }, t("chip.occurrences", { count: citation.occurrences }))
      : null,
  ].filter((one) => one !== null);
}

const CLOSE_MS = 120;

/** The one card of the page. It is a picture of what the chip's name and the viewer say: screen readers skip it. */
export function createCard() {
  const element = h("div", { class: "card", "aria-hidden": "true", hidden: true });
  /** @type {HTMLElement | null} */
  let owner = null;
  let closing = 0;

  function hide() {
    owner = null;
    element.hidden = true;
  }

  /** @param {HTMLElement} anchor @param {() => HTMLElement[]} content */
  function show(anchor, content) {
    clearTimeout(closing);
    if (owner === anchor) return;
    owner = anchor;
    element.replaceChildren(...content());
    element.hidden = false;
    const box = anchor.getBoundingClientRect();
    const own = element.getBoundingClientRect();
    const room = document.documentElement.clientWidth - own.width - 8;
    const left = Math.max(8, Math.min(room, box.left + box.width / 2 - own.width / 2));
    const above = box.top - own.height - 8;
    element.style.left = `${left}px`;
    element.style.top = `${above > 8 ? above : box.bottom + 8}px`;
  }

  element.addEventListener("pointerenter", () => clearTimeout(closing));
  element.addEventListener("pointerleave", hide);
  return {
    element,
    hide,
    shown: () => owner !== null,
    /** @param {HTMLElement} anchor @param {() => HTMLElement[]} content */
    attach(anchor, content) {
      anchor.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && show(anchor, content));
      anchor.addEventListener("focus", () => anchor.matches(":focus-visible") && show(anchor, content));
      anchor.addEventListener("blur", hide);
      anchor.addEventListener("pointerleave", () => {
        closing = window.setTimeout(hide, CLOSE_MS);
      });
    },
  };
}
