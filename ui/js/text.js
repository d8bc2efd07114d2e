// @ts-check
/**
 * Positions in text. The service counts Unicode code points, JavaScript UTF-16 units; the two meet here and nowhere
 * else (docs/adr/0004).
 */

/**
 * The UTF-16 offset of a position in code points.
 * @param {string} text
 * @param {number} points
 */
export function unitOffset(text, points) {
  let unit = 0;
  for (; points > 0 && unit < text.length; points--) unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
  return unit;
}

/**
 * The position in code points of a UTF-16 offset.
 * @param {string} text
 * @param {number} units
 */
export function pointOffset(text, units) {
  let points = 0;
  for (let unit = 0; unit < units && unit < text.length; points++) {
    unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
  }
  return points;
}

/**
 * How many code points a text has.
 * @param {string} text
 */
export function pointLength(text) {
  return pointOffset(text, text.length);
}

/**
 * The DOM ranges of the range [start, end) of the document text, in order. Bearers of a rendition carry the position
 * of their first code point as `data-start`.
 * @param {Element} root
 * @param {number} start
 * @param {number} end
 * @returns {Range[]}
 */
export function rangesOf(root, start, end) {
  const found = [];
  for (const bearer of root.querySelectorAll("[data-start]")) {
    let at = Number(bearer.getAttribute("data-start"));
    // The header of a table comes again with each part, so that starts are not in order over the whole.
    if (at >= end) continue;
    const texts = root.ownerDocument.createTreeWalker(bearer, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      const data = /** @type {Text} */ (node).data;
      const length = pointLength(data);
      const low = Math.max(start, at);
      const high = Math.min(end, at + length);
      if (low < high) {
        const range = root.ownerDocument.createRange();
        range.setStart(node, unitOffset(data, low - at));
        range.setEnd(node, unitOffset(data, high - at));
        found.push(range);
      }
      at += length;
    }
  }
  return found;
}
