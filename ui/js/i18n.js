// @ts-check
/** The interface's words in one language, and numbers, sizes and times as that language writes them. */

export const LANGUAGES = /** @type {const} */ (["en", "fr", "ar"]);
const RIGHT_TO_LEFT = new Set(["ar"]);

/** @typedef {Record<string, string | Record<string, string>>} Words */

/**
 * The language to begin with: the reader's choice, else the first of the browser's that there is, else English.
 * @param {string | null} chosen
 * @param {readonly string[]} preferred
 */
export function pickLanguage(chosen, preferred) {
  const known = /** @type {readonly string[]} */ (LANGUAGES);
  if (chosen && known.includes(chosen)) return chosen;
  return preferred.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => known.includes(tag)) ?? "en";
}

/**
 * @param {string} language
 * @param {Words} words
 */
export function createI18n(language, words) {
  // Documents and markers are in European digits, whatever the language around them.
  const locale = language === "ar" ? "ar-u-nu-latn" : language;
  const plural = new Intl.PluralRules(locale);
  const number = new Intl.NumberFormat(locale);
  const date = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });

  /**
   * The text of a key; `{name}` stands for a value, and a text that depends on a number is chosen by `count`.
   * @param {string} key
   * @param {Record<string, string | number>} [values]
   */
  function t(key, values = {}) {
    let text = words[key];
    if (text === undefined) return key;
    if (typeof text !== "string") text = text[plural.select(Number(values.count ?? 0))] ?? text.other;
    return text.replace(/\{(\w+)\}/g, (all, name) => {
      const value = values[name];
      if (value === undefined) return all;
      return typeof value === "number" ? number.format(value) : value;
    });
  }

  /**
   * A text with elements in it: the pieces of the text, and the nodes that stand for its `{names}`.
   * @param {string} key
   * @param {Record<string, Node | string>} nodes
   * @returns {(Node | string)[]}
   */
  function parts(key, nodes) {
    return t(key)
      .split(/(\{\w+\})/)
      .map((piece) => (piece.startsWith("{") ? (nodes[piece.slice(1, -1)] ?? piece) : piece));
  }

  return {
    language,
    direction: RIGHT_TO_LEFT.has(language) ? "rtl" : "ltr",
    t,
    parts,
    /** @param {string} key */
    has: (key) => key in words,
    /** @param {number} value @param {number} [digits] */
    number: (value, digits = 0) =>
      value.toLocaleString(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits }),
    /** @param {string} iso */
    time: (iso) => (iso && !Number.isNaN(Date.parse(iso)) ? date.format(new Date(iso)) : ""),
    /** @param {number} bytes */
    size: (bytes) => {
      const units = ["byte", "kilobyte", "megabyte", "gigabyte"];
      const step = bytes < 1 ? 0 : Math.min(3, Math.floor(Math.log10(bytes) / 3));
      return (bytes / 1000 ** step).toLocaleString(locale, {
        style: "unit",
        unit: units[step],
        unitDisplay: "short",
        maximumFractionDigits: step && bytes / 1000 ** step < 10 ? 1 : 0,
      });
    },
    /** @param {number} ms */
    duration: (ms) =>
      ms < 1000
        ? `${number.format(Math.round(ms))} ms`
        : `${(ms / 1000).toLocaleString(locale, { maximumFractionDigits: 1 })} s`,
  };
}

/** @typedef {ReturnType<typeof createI18n>} I18n */
