/** Parts of renditions put together, and addresses of views. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { joinParts } from "../../ui/js/rendition.js";
import { readRoute, routeOf } from "../../ui/js/route.js";

const leaf = (tag, attributes = {}, children = []) => ({ tag, attributes, children });
const rows = (...texts) =>
  leaf(
    "tbody",
    {},
    texts.map((text) => leaf("tr", {}, [text])),
  );
const table = (id, ...texts) => leaf("table", { id }, [leaf("thead", {}, ["names"]), rows(...texts)]);
const part = (from, to, ...nodes) => ({ from, to, length: 100, nodes });

test("a table that goes on is one table with one header", () => {
  const joined = joinParts(part(0, 10, leaf("p"), table("b2", "1", "2")), part(10, 20, table("b2", "3"), leaf("p")));
  assert.deepEqual(
    joined.nodes.map((node) => node.tag),
    ["p", "table", "p"],
  );
  assert.deepEqual(
    joined.nodes[1].children.map((child) => child.tag),
    ["thead", "tbody", "tbody"],
  );
  assert.deepEqual([joined.from, joined.to], [0, 20]);
});

test("two tables stay two", () => {
  assert.equal(joinParts(part(0, 10, table("b2", "1")), part(10, 20, table("b3", "2"))).nodes.length, 2);
});

test("a list that goes on is one list", () => {
  const joined = joinParts(part(0, 5, leaf("ul", {}, [leaf("li")])), part(5, 9, leaf("ul", {}, [leaf("li")])));
  assert.deepEqual([joined.nodes.length, joined.nodes[0].children.length], [1, 2]);
});

test("what was there before is the same object after", () => {
  const first = part(0, 5, leaf("p"), leaf("h1"));
  const joined = joinParts(first, part(5, 9, leaf("p")));
  assert.equal(joined.nodes[0], first.nodes[0]);
  assert.equal(joined.nodes[1], first.nodes[1]);
});

test("an address names what is shown, and nothing else", () => {
  const state = { project: "né/w", view: "chat", conversationId: "c 1" };
  assert.deepEqual(readRoute(routeOf(state)), { code: "", project: "né/w", view: "chat", conversation: "c 1" });
  assert.equal(readRoute("#/default/documents").view, "documents");
  assert.equal(readRoute("#/%zz/chat").project, "");
});

test("a one-time code is read from the fragment alone", () => {
  assert.deepEqual(readRoute("#code=abc_-1"), { code: "abc_-1", project: "", view: "chat", conversation: "" });
});
