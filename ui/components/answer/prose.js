// @ts-check
/** The words of an answer with its chips, and the stretches of it that are doubtful. */

import { h } from "../../js/dom.js";
import { citationAt, parseProse } from "../../js/prose.js";
import { pointLength, pointOffset, unitOffset } from "../../js/text.js";
import { createChip } from "../chip/chip.js";

/** @typedef {import("../../js/state.js").Turn} Turn */

/** @param {import("../../js/app.js").Context} ctx @param {Turn} turn @param {number} current */
export function createProse(ctx, turn, current) {
  const text = turn.answer ? turn.answer.answer : turn.draft;
  if (!text)
    return turn.phase === "writing" || turn.phase === "searching" ? h("div", { class: "prose prose-waiting" }) : null;
  const kept = turn.search?.results.filter((hit) => hit.kept) ?? [];
  const flagged = turn.answer ? flaggedRanges(ctx.i18n, turn.answer) : [];
  let chips = 0;
  /** @param {import("../../js/prose.js").Piece} piece */
  const nodes = (piece) => {
    if (piece.kind !== "marker") {
      return piece.kind === "text" ? spans(piece, flagged) : [h(piece.kind, {}, piece.text)];
    }
    const index = citationAt(turn.citations, piece.number, piece.start);
    const citation = turn.citations[index] ?? null;
    const hit = kept[piece.number - 1] ?? null;
    if (!citation && turn.answer) return [`[${piece.number}]`];
    const open = () =>
      citation
        ? ctx.emit("citation-opened", { turnId: turn.id, index })
        : ctx.emit("source-opened", { turnId: turn.id, index: turn.search?.results.indexOf(hit) ?? -1 });
    return [
      createChip(ctx, {
        number: piece.number,
        citation,
        hit,
        key: `chip-${chips++}`,
        open,
        current: citation !== null && index === current,
      }),
    ];
  };
  /** @param {import("../../js/prose.js").ProseBlock} block */
  const block = (block) => {
    if ("items" in block)
      return h(
        block.kind,
        {},
        block.items.map((item) => h("li", { dir: "auto" }, bound(item, nodes))),
      );
    if (block.kind === "pre")
      return h(
        "pre",
        { dir: "ltr" },
        block.pieces.map((piece) => ("text" in piece ? piece.text : "")),
      );
    return h("p", { dir: "auto", class: block.kind === "h" ? "prose-heading" : undefined }, bound(block.pieces, nodes));
  };
  return h(
    "div",
    { class: "prose", dir: "auto", lang: turn.answer?.language, on: { keydown: walkChips } },
    parseProse(text).map(block),
  );
}

/**
 * Pieces as nodes, markers bound to the sign that follows them, so that no line begins with a full stop.
 * @param {import("../../js/prose.js").Piece[]} pieces @param {(piece: import("../../js/prose.js").Piece) => Node[] | (Node | string)[]} nodes
 */
function bound(pieces, nodes) {
  /** @type {(Node | string)[]} */
  const out = [];
  /** @type {HTMLElement | null} */
  let group = null;
  for (const piece of pieces) {
    if (piece.kind === "marker") {
      const last = out.at(-1);
      if (!group) {
        if (typeof last === "string") out[out.length - 1] = last.trimEnd();
        out.push((group = h("span", { class: "chips" })));
      }
      group.append(...nodes(piece));
      continue;
    }
    const sign = group && piece.kind === "text" ? (/^[.,;:!?،؛؟…)\]»”]+/.exec(piece.text)?.[0] ?? "") : "";
    group?.append(sign);
    group = null;
    const rest = sign ? { ...piece, text: piece.text.slice(sign.length), start: piece.start + sign.length } : piece;
    out.push(...nodes(rest));
  }
  return out;
}

/** Arrows walk the citations of an answer, in the direction of its text. @param {KeyboardEvent} event */
function walkChips(event) {
  const chip = /** @type {HTMLElement} */ (event.target).closest(".chip");
  if (!chip || !["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].includes(event.key)) return;
  const chips = /** @type {HTMLElement[]} */ ([
    .../** @type {HTMLElement} */ (event.currentTarget).querySelectorAll(".chip"),
  ]);
  const at = chips.indexOf(/** @type {HTMLElement} */ (chip));
  const rtl = getComputedStyle(/** @type {Element} */ (chip.parentElement)).direction === "rtl";
  const step =
    {
      ArrowLeft: rtl ? 1 : -1,
      ArrowRight: rtl ? -1 : 1,
      ArrowUp: -1,
      ArrowDown: 1,
      Home: -chips.length,
      End: chips.length,
    }[event.key] ?? 0;
  event.preventDefault();
  const next = chips[Math.max(0, Math.min(chips.length - 1, at + step))];
  next.focus();
}

/** What a sentence says and its passage does not. @param {import("../../js/events.js").Answer} answer */
export const doubted = (answer) =>
  answer.citations.filter((citation) => citation.status === "unverified" && citation.reason);

/** @param {import("../../js/i18n.js").I18n} i18n @param {import("../../js/events.js").Answer} answer */
function flaggedRanges({ t }, answer) {
  /** @type {{start: number, end: number, why: string}[]} */
  const found = doubted(answer).map((citation) => ({
    start: citation.sentence[0],
    end: citation.sentence[1],
    why: citation.reason,
  }));
  for (const sentence of answer.uncited_figures) {
    const unit = answer.answer.indexOf(sentence);
    if (unit < 0) continue;
    const start = pointOffset(answer.answer, unit);
    found.push({ start, end: start + pointLength(sentence), why: t("flag.uncited") });
  }
  return found;
}

/**
 * Text with its flagged stretches marked.
 * @param {{text: string, start: number}} piece @param {{start: number, end: number, why: string}[]} flagged
 */
function spans(piece, flagged) {
  const end = piece.start + pointLength(piece.text);
  const meets = flagged.filter((flag) => flag.start < end && piece.start < flag.end);
  if (!meets.length) return [piece.text];
  const out = [];
  let at = 0;
  for (const flag of meets) {
    const from = Math.max(at, unitOffset(piece.text, Math.max(0, flag.start - piece.start)));
    const to = unitOffset(piece.text, Math.min(end, flag.end) - piece.start);
    out.push(piece.text.slice(at, from), h("span", { class: "flagged", title: flag.why }, piece.text.slice(from, to)));
    at = to;
  }
  out.push(piece.text.slice(at));
  return out;
}
