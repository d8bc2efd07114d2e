// @ts-check
/** A figure that the program computed: what was done, the result, and the rows it was computed from. */

import { h } from "../../js/dom.js";

const SHOWN_ROWS = 20;

/**
 * @param {import("../../js/app.js").Context} ctx
 * @param {import("../../js/state.js").Turn} turn
 * @param {import("../../js/events.js").Calculation} calculation
 */
export function createCalculation({ i18n, emit }, turn, calculation) {
  const { t } = i18n;
  const what = t(`operation.${calculation.operation}`);
  // Rows that the answer cites stand below, each with its chip.
  const rows = (calculation.rows ?? []).filter((row) => row.citation === null);
  const groups = calculation.groups ?? [];
  const withUnit = (/** @type {string} */ value, unit = calculation.unit) =>
    h("bdi", { class: "calculation-value" }, [value, unit].filter(Boolean).join(" "));
  const summary = calculation.reason
    ? t("calculation.none")
    : t("calculation.of", {
        operation: what,
        column: calculation.column || t("calculation.rows"),
        count: calculation.row_count,
      });
  return h(
    "section",
    { class: "calculation", "aria-label": t("calculation.title") },
    h("p", { class: "calculation-how" }, summary),
    calculation.result
      ? h(
          "p",
          { class: "calculation-result" },
          withUnit(calculation.result),
          calculation.exact === false ? h("span", { class: "soft" }, t("calculation.rounded")) : null,
        )
      : null,
    groups.length
      ? h(
          "div",
          { class: "scrolls", tabindex: "0", role: "region", "aria-label": t("calculation.groups") },
          h(
            "table",
            { class: "calculation-groups" },
            h(
              "thead",
              {},
              h(
                "tr",
                {},
                h("th", { scope: "col", dir: "auto" }, calculation.grouped_by || t("calculation.group")),
                h("th", { scope: "col" }, what),
                h("th", { scope: "col" }, t("calculation.count")),
              ),
            ),
            h(
              "tbody",
              {},
              groups.map((group) =>
                h(
                  "tr",
                  {},
                  h("th", { scope: "row", dir: "auto" }, group.name),
                  h("td", {}, withUnit(group.result, group.unit)),
                  h("td", {}, String(group.rows)),
                ),
              ),
            ),
          ),
        )
      : null,
    calculation.conditions?.length
      ? h("p", { class: "soft" }, t("calculation.conditions", { words: calculation.conditions.join(", ") }))
      : null,
    calculation.missing_count
      ? h("p", { class: "calculation-missing" }, t("calculation.missing", { count: calculation.missing_count }))
      : null,
    rows.length
      ? h(
          "details",
          { data: { fold: "rows" } },
          h("summary", {}, t("calculation.show", { count: rows.length })),
          h(
            "ol",
            { class: "calculation-list" },
            rows
              .slice(0, SHOWN_ROWS)
              .map((row) =>
                h(
                  "li",
                  {},
                  h(
                    "button",
                    {
                      type: "button",
                      class: "calculation-row",
                      on: {
                        click: () =>
                          emit("place-opened", {
                            turnId: turn.id,
                            path: row.path,
                            start: row.start,
                            end: row.end,
                            citation: row.citation,
                          }),
                      },
                    },
                    h("bdi", {}, row.path),
                    row.value ? withUnit(row.value) : null,
                  ),
                ),
              ),
          ),
          rows.length > SHOWN_ROWS
            ? h("p", { class: "soft" }, t("calculation.more", { count: rows.length - SHOWN_ROWS }))
            : null,
        )
      : null,
  );
}
