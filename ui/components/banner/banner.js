// @ts-check
/** One line over the page while something is not as it should be: no service, or passages that leave the machine. */

import { h } from "../../js/dom.js";

/** @param {import("../../js/app.js").Context} ctx */
export function createBanner({ i18n, emit }) {
  const { t } = i18n;
  const text = h("span");
  const action = h(
    "button",
    { type: "button", class: "button", on: { click: () => emit("reconnect") } },
    t("banner.retry"),
  );
  const element = h("div", { class: "banner", role: "alert", hidden: true }, text, action);

  return {
    element,
    /** @param {import("../../js/state.js").State} state */
    render(state) {
      const external = state.health?.sovereignty === "external";
      const away = state.connection === "away" && state.session !== "out";
      const words = away
        ? t("banner.away")
        : external
          ? t("banner.external", { where: destinations(state.health) || t("banner.elsewhere") })
          : "";
      // The same text again would be said again.
      if (text.textContent !== words) text.textContent = words;
      action.hidden = !away;
      element.hidden = !words;
      element.dataset.kind = away ? "away" : "external";
    },
  };
}

/** Where passages go, as the service names it. @param {{outflows?: {to: string}[]}} health */
function destinations(health) {
  return [...new Set((health.outflows ?? []).map((one) => one.to))].join(", ");
}
