// @ts-check
/** Keys of the whole page: Escape goes back towards the text, F6 goes round the regions. */

const REGIONS = [
  ".sidebar-new",
  ".topbar-tab[aria-current]",
  "#conversation, #documents",
  "#question",
  ".viewer .pages, .viewer .extract, #viewer",
];

/**
 * @param {{root: HTMLElement, card: {shown: () => boolean, hide: () => void}, emit: import("./app.js").Emit,
 *   store: import("./state.js").Store, signal: AbortSignal}} parts
 */
export function attachKeys({ root, card, emit, store, signal }) {
  addEventListener(
    "keydown",
    (event) => {
      if (event.defaultPrevented) return;
      if (event.key === "Escape") escape();
      else if (event.key === "F6") {
        event.preventDefault();
        goRound(event.shiftKey ? -1 : 1);
      }
    },
    { signal },
  );

  function escape() {
    if (document.querySelector("dialog[open]")) return;
    if (card.shown()) card.hide();
    else if (store.get().sidebar) emit("sidebar-toggled");
    else if (store.get().viewer) emit("viewer-closed");
  }

  /** @param {number} by */
  function goRound(by) {
    const places = REGIONS.map((selector) =>
      /** @type {HTMLElement[]} */ ([...root.querySelectorAll(selector)]).find((one) =>
        one.checkVisibility({ visibilityProperty: true }),
      ),
    ).filter((one) => one !== undefined);
    const now = places.findIndex(
      (place) =>
        place === document.activeElement ||
        place.closest("aside, header, main, form")?.contains(document.activeElement),
    );
    places[(now + by + places.length) % places.length]?.focus();
  }
}
