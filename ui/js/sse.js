// @ts-check
/** Server-sent events as a pure parser: text in, events out. Reading them from the network is `api.js`. */

/**
 * @typedef {{event: string, data: string}} ServerEvent
 */

/**
 * A parser that is fed pieces of a stream, cut anywhere, and gives the events that they complete. Comments are
 * dropped, a byte order mark is skipped, and lines end with LF, CR or CRLF, as the standard has it.
 * @returns {{push: (piece: string) => ServerEvent[]}}
 */
export function createParser() {
  let rest = "";
  let begun = false;
  let event = "";
  /** @type {string[]} */
  let data = [];

  /** @param {string} line @param {ServerEvent[]} out */
  function take(line, out) {
    if (line === "") {
      if (data.length) out.push({ event: event || "message", data: data.join("\n") });
      event = "";
      data = [];
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") event = value;
    else if (field === "data") data.push(value);
  }

  return {
    push(piece) {
      /** @type {ServerEvent[]} */
      const out = [];
      rest += piece;
      if (!begun && rest) {
        begun = true;
        if (rest.startsWith("\ufeff")) rest = rest.slice(1);
      }
      for (;;) {
        const end = rest.search(/[\r\n]/);
        // A lone CR at the end may be the first half of CRLF: it waits for what follows.
        if (end < 0 || (rest[end] === "\r" && end === rest.length - 1)) return out;
        const width = rest.startsWith("\r\n", end) ? 2 : 1;
        const line = rest.slice(0, end);
        rest = rest.slice(end + width);
        take(line, out);
      }
    },
  };
}
