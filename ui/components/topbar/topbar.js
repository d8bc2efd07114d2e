// @ts-check
/** The line over everything: where one is, that everything stays local, and the language. */

import { h, icon, iconButton } from "../../js/dom.js";
import { LANGUAGES } from "../../js/i18n.js";

const NAMES = { en: "English", fr: "Français", ar: "العربية" };
const THEMES = ["auto", "light", "dark"];

/** @param {import("../../js/app.js").Context} ctx */
export function createTopbar({ i18n, emit, preferences }) {
  const { t } = i18n;
  const menu = iconButton("menu", t("menu"), () => emit("sidebar-toggled"), { class: "topbar-menu" });
  const chat = tab("chat", t("nav.chat"));
  const documents = tab("documents", t("nav.documents"));
  const word = h("span");
  const dot = h("span", { class: "sovereignty", role: "img" }, h("span", { class: "sovereignty-dot" }), word);

  /** @param {string} view @param {string} label */
  function tab(view, label) {
    return h(
      "button",
      { type: "button", class: "topbar-tab", on: { click: () => emit("view-chosen", { view }) } },
      label,
    );
  }

  const language = h(
    "select",
    {
      class: "field topbar-select",
      "aria-label": t("language"),
      on: { change: (event) => emit("language-chosen", { language: event.target.value }) },
    },
    LANGUAGES.map((code) => h("option", { value: code, lang: code, selected: code === i18n.language }, NAMES[code])),
  );
  const theme = h(
    "select",
    {
      class: "field topbar-select",
      "aria-label": t("theme"),
      on: { change: (event) => emit("theme-chosen", { theme: event.target.value }) },
    },
    THEMES.map((name) => h("option", { value: name, selected: name === preferences.theme() }, t(`theme.${name}`))),
  );
  const element = h(
    "header",
    { class: "topbar" },
    menu,
    h("span", { class: "topbar-brand", translate: "no" }, "rag-source"),
    h("nav", { class: "topbar-nav", "aria-label": t("nav") }, chat, documents),
    h("span", { class: "topbar-space" }),
    dot,
    language,
    h("span", { class: "topbar-theme" }, icon("contrast"), theme),
  );

  return {
    element,
    /** @param {import("../../js/state.js").State} state */
    render(state) {
      for (const [button, view] of /** @type {const} */ ([
        [chat, "chat"],
        [documents, "documents"],
      ])) {
        if (state.view === view) button.setAttribute("aria-current", "page");
        else button.removeAttribute("aria-current");
      }
      menu.setAttribute("aria-expanded", String(state.sidebar));
      const kind = state.connection === "away" ? "away" : (state.health?.sovereignty ?? "unknown");
      dot.dataset.kind = kind;
      word.textContent = t(`sovereignty.${kind}`);
      dot.setAttribute("aria-label", t(`sovereignty.${kind}.long`));
      dot.title = t(`sovereignty.${kind}.long`);
      // Without a session there is nowhere to go; the language can still be chosen.
      const out = state.session === "out";
      chat.hidden = documents.hidden = dot.hidden = out;
      menu.classList.toggle("topbar-none", out);
    },
  };
}
