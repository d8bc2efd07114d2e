// @ts-check
/** Where a question is written. What is written is kept while the page is open, whatever happens to the service. */

import { h, icon } from "../../js/dom.js";
import { isUnderWay } from "../../js/state.js";

/** @param {import("../../js/app.js").Context} ctx */
export function createComposer({ i18n, emit, preferences }) {
  const { t } = i18n;
  const field = /** @type {HTMLTextAreaElement} */ (
    h("textarea", {
      id: "question",
      class: "composer-field",
      rows: 1,
      dir: "auto",
      maxlength: 4000,
      placeholder: t("composer.placeholder"),
      "aria-label": t("composer.label"),
      enterkeyhint: "send",
      on: { input: typed, keydown: pressed },
    })
  );
  field.value = preferences.draft();
  const send = h(
    "button",
    { type: "submit", class: "icon-button composer-send", "aria-label": t("composer.send"), title: t("composer.send") },
    icon("send"),
  );
  const stop = h(
    "button",
    { type: "button", class: "button composer-stop", hidden: true, on: { click: () => emit("stopped") } },
    icon("stop"),
    t("composer.stop"),
  );
  const element = h(
    "form",
    { class: "composer", on: { submit } },
    h("div", { class: "composer-box" }, field, stop, send),
  );
  let busy = false;

  function typed() {
    preferences.keepDraft(field.value);
    send.toggleAttribute("disabled", !field.value.trim());
  }

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    // An input method takes Enter for itself.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit(event);
  }

  /** @param {Event} event */
  function submit(event) {
    event.preventDefault();
    const question = field.value.trim();
    if (!question || busy) return;
    field.value = "";
    typed();
    emit("asked", { question });
  }

  typed();
  return {
    element,
    /** @param {string} text */
    fill(text) {
      field.value = text;
      typed();
      field.focus();
      field.select();
    },
    focus: () => field.focus(),
    /** @param {import("../../js/state.js").State} state */
    render(state) {
      busy = state.turns.some(isUnderWay);
      // The button that has the focus must not vanish from under it.
      if (!busy && document.activeElement === stop) field.focus();
      stop.hidden = !busy;
      send.hidden = busy;
      element.hidden = state.view !== "chat";
    },
  };
}
