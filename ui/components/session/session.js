// @ts-check
/** What is shown without a session: how to get one. The link's code can be pasted here too. */

import { h } from "../../js/dom.js";

/** @param {import("../../js/app.js").Context} ctx */
export function createSession({ i18n, emit }) {
  const { t } = i18n;
  const field = /** @type {HTMLInputElement} */ (
    h("input", {
      id: "link",
      class: "field",
      type: "text",
      autocomplete: "off",
      spellcheck: "false",
      dir: "ltr",
      "aria-describedby": "link-problem",
    })
  );
  const problem = h("p", { id: "link-problem", class: "session-problem", role: "alert" });
  const form = h(
    "form",
    {
      class: "session-form",
      on: {
        submit: (event) => {
          event.preventDefault();
          const given = field.value.trim();
          if (given) emit("signed-in-with", { code: given.split("code=").at(-1) });
        },
      },
    },
    h("label", { for: "link" }, t("session.paste")),
    h(
      "div",
      { class: "session-line" },
      field,
      h("button", { type: "submit", class: "button primary" }, t("session.open")),
    ),
    problem,
  );
  const element = h(
    "main",
    { class: "session", tabindex: "-1", hidden: true },
    h(
      "div",
      { class: "session-card" },
      h("h1", {}, t("session.title")),
      h("p", {}, i18n.parts("session.how", { command: h("code", { dir: "ltr" }, "rag-source link") })),
      h("p", { class: "soft" }, t("session.why")),
      form,
    ),
  );
  let shown = false;
  return {
    element,
    /** @param {import("../../js/state.js").State} state */
    render(state) {
      const out = state.session === "out";
      problem.textContent = out && state.sessionError ? t(`session.error.${state.sessionError}`) : "";
      element.hidden = !out;
      if (out && !shown) element.focus();
      shown = out;
    },
  };
}
