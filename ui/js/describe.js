// @ts-check
/** Places and verdicts in words of the reader's language. */

/** @typedef {import("./i18n.js").I18n} I18n */

const MOST_COLUMNS = 2;

/**
 * Where in its file a source stands: "page 5", "row 12, unit price", or its section; empty if there is nothing to say.
 * @param {I18n} i18n
 * @param {{page?: number | null, table?: import("./events.js").TablePlace | null, section?: string}} source
 */
export function placeOf({ t }, { page, table, section }) {
  const said = [];
  if (page) said.push(t("place.page", { page: String(page) }));
  if (table) {
    if (table.sheet) said.push(table.sheet);
    said.push(t("place.row", { row: String(table.row) }));
    // A row that is quoted whole needs no list of all its columns.
    if (table.columns.length <= MOST_COLUMNS) said.push(...table.columns);
  }
  if (!said.length && section) said.push(section.split(" › ").at(-1) ?? "");
  return said.join(" · ");
}

/**
 * The verdict on a citation as a sentence, with the reason where there is one.
 * @param {I18n} i18n @param {import("./events.js").Citation} citation
 */
export function verdictOf({ t, number }, citation) {
  const score = number(citation.score, citation.score % 1 ? 1 : 0);
  if (citation.status === "verified") {
    const how = citation.score >= 100 ? "exact" : citation.score >= 97 ? "normalised" : "fuzzy";
    return t(`verdict.verified.${how}`, { score });
  }
  const reason = citation.reason || t("verdict.no_reason");
  return t(`verdict.${citation.status}.long`, { reason });
}
