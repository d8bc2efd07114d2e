/** The parser of server-sent events, on streams cut where they may be cut. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { answerEvent } from "../../ui/js/events.js";
import { createParser } from "../../ui/js/sse.js";

const all = (...pieces) => {
  const parser = createParser();
  return pieces.flatMap((piece) => parser.push(piece));
};
const STREAM = ': hello\n\nevent: token\ndata: {"text": "é[1"}\n\nevent: done\ndata: {"a":\ndata: 1}\n\n';

test("a stream gives the same events wherever it is cut", () => {
  const whole = all(STREAM);
  assert.deepEqual(whole, [
    { event: "token", data: '{"text": "é[1"}' },
    { event: "done", data: '{"a":\n1}' },
  ]);
  for (let cut = 1; cut < STREAM.length; cut++) assert.deepEqual(all(STREAM.slice(0, cut), STREAM.slice(cut)), whole);
  assert.deepEqual(all(...STREAM), whole);
});

test("lines may end with CR or CRLF, also where the two are parted", () => {
  const whole = all(STREAM);
  for (const end of ["\r\n", "\r"]) {
    const text = STREAM.replaceAll("\n", end) + (end === "\r" ? ":\r" : "");
    assert.deepEqual(all(...text), whole);
  }
});

test("comments, unknown fields and empty events give nothing", () => {
  assert.deepEqual(all(": ping\n\n", "id: 3\nretry: 100\n\n", "event: token\n\n"), []);
});

test("an event without a name is a message, and a byte order mark is skipped", () => {
  assert.deepEqual(all("\ufeffdata:x\n\n"), [{ event: "message", data: "x" }]);
});

test("an event that this page does not know is passed over", () => {
  assert.equal(answerEvent({ event: "novelty", data: "{}" }), null);
  assert.deepEqual(answerEvent({ event: "token", data: '{"text":"x"}' }), { type: "token", text: "x" });
});
