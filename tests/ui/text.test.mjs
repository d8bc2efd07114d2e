/** Positions in code points and in UTF-16 units, and the markers of an answer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { citationAt, markerNumbers, parseProse } from "../../ui/js/prose.js";
import { pointLength, pointOffset, unitOffset } from "../../ui/js/text.js";

const MIXED = "🎏a مدة الضمان 👨‍👩‍👧 e\u0301 fin";

test("the two ways of counting are the inverse of each other", () => {
  const points = [...MIXED];
  assert.equal(pointLength(MIXED), points.length);
  for (let at = 0; at <= points.length; at++) {
    const unit = points.slice(0, at).join("").length;
    assert.equal(unitOffset(MIXED, at), unit);
    assert.equal(pointOffset(MIXED, unit), at);
  }
});

test("a quote after an emoji and right-to-left text is cut where it stands", () => {
  const start = [...MIXED].indexOf("f");
  assert.equal(MIXED.slice(unitOffset(MIXED, start), unitOffset(MIXED, start + 3)), "fin");
});

test("positions beyond the text stay at its end", () => {
  assert.equal(unitOffset("ab", 9), 2);
  assert.equal(pointOffset("ab", 9), 2);
});

test("all forms of a marker are read", () => {
  assert.deepEqual(["1", "1, 3", "1-3", "2–4"].map(markerNumbers), [[1], [1, 3], [1, 2, 3], [2, 3, 4]]);
  assert.deepEqual(markerNumbers("1-999"), [1, 999]);
  const numbers = parseProse("a [1] b [[2]] c 【3】 d [0] e [9, 1].")[0]
    .pieces.filter((piece) => piece.kind === "marker")
    .map((piece) => piece.number);
  assert.deepEqual(numbers, [1, 2, 3, 0, 9, 1]);
});

test("markers know their place in code points", () => {
  const text = "🎏🎏 begins [1].";
  const marker = parseProse(text)[0].pieces.find((piece) => piece.kind === "marker");
  assert.equal(marker.start, [...text].indexOf("["));
});

test("code is left as it is", () => {
  const [first, block] = parseProse("use `a[1]` here\n\n```\nb[2]\n```");
  assert.deepEqual(
    first.pieces.map((piece) => piece.kind),
    ["text", "code", "text"],
  );
  assert.deepEqual([block.kind, block.pieces[0].text], ["pre", "b[2]"]);
});

test("links, pictures and tags stay text", () => {
  const text = "![x](http://evil/?q=1) <img src=x> [a](b)";
  assert.deepEqual(parseProse(text)[0].pieces, [{ kind: "text", text, start: 0 }]);
});

test("lists, headings and paragraphs are told apart", () => {
  assert.deepEqual(
    parseProse("# T\nintro\nmore\n- one [1]\n- two\n\n1. x\n2. y").map((block) => block.kind),
    ["h", "p", "ul", "ol"],
  );
});

test("no character of prose is lost", () => {
  const text = "One **two** three [1]\nfour 🎏";
  const joined = parseProse(text)[0]
    .pieces.map((piece) => piece.text ?? `[${piece.number}]`)
    .join("");
  assert.equal(joined, "One two three [1]\nfour 🎏");
});

test("a marker means the citation of its sentence", () => {
  const citations = [
    { marker: 1, sentence: [0, 20] },
    { marker: 2, sentence: [21, 40] },
    { marker: 1, sentence: [41, 60] },
  ];
  assert.equal(citationAt(citations, 1, 18), 0);
  assert.equal(citationAt(citations, 1, 58), 2);
  assert.equal(citationAt(citations, 1, 62), 2);
  assert.equal(citationAt(citations, 3, 10), -1);
});
