/** The words of the interface: complete in each language, and the same values in each. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { LANGUAGES, createI18n, pickLanguage } from "../../ui/js/i18n.js";

const UI = new URL("../../ui/", import.meta.url);
const words = Object.fromEntries(
  LANGUAGES.map((language) => [language, JSON.parse(readFileSync(new URL(`i18n/${language}.json`, UI), "utf8"))]),
);
const holes = (text) => [...new Set([...JSON.stringify(text).matchAll(/\{(\w+)\}/g)].map((match) => match[1]))].sort();
const sources = ["js/", ...readdirSync(new URL("components/", UI)).map((name) => `components/${name}/`)].flatMap(
  (folder) =>
    readdirSync(new URL(folder, UI))
      .filter((name) => name.endsWith(".js"))
      .map((name) => readFileSync(new URL(folder + name, UI), "utf8")),
);

for (const language of LANGUAGES) {
  test(`${language} has every text, with the values of the English one`, () => {
    assert.deepEqual(Object.keys(words[language]).sort(), Object.keys(words.en).sort());
    for (const [key, text] of Object.entries(words[language])) {
      const missing = holes(words.en[key]).filter((hole) => hole !== "count" && !holes(text).includes(hole));
      assert.deepEqual(missing, [], key);
    }
  });
}

test("every text that the code names is there", () => {
  const named = sources.flatMap((source) =>
    [...source.matchAll(/\b(?:t|parts)\(\s*"([^"]+)"/g)].map((match) => match[1]),
  );
  assert.ok(named.length > 100);
  assert.deepEqual(
    named.filter((key) => !(key in words.en)),
    [],
  );
});

test("Arabic has a form for each number it tells apart", () => {
  const { t } = createI18n("ar", words.ar);
  const forms = new Set([1, 2, 3, 11, 100].map((count) => t("documents.ready", { count })));
  assert.equal(forms.size, 5);
  assert.match(t("documents.ready", { count: 14 }), /14/);
});

test("the language is the reader's choice, then the browser's, then English", () => {
  assert.equal(pickLanguage("ar", ["fr"]), "ar");
  assert.equal(pickLanguage(null, ["de", "fr-CA", "en"]), "fr");
  assert.equal(pickLanguage("xx", ["de"]), "en");
});

test("numbers and sizes are written as the language writes them, in digits of the documents", () => {
  assert.equal(createI18n("en", words.en).number(0.5, 2), "0.50");
  assert.equal(createI18n("fr", words.fr).number(0.5, 2), "0,50");
  assert.match(createI18n("ar", words.ar).number(12), /^12$/);
  assert.match(createI18n("en", words.en).size(1_234_567), /^1\.2\sMB$/);
});

test("nothing makes markup of a string", () => {
  const forbidden =
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|\beval\(|new Function|setHTML|srcdoc|\.style\s*=|setAttribute\(\s*"(?:style|on)/;
  assert.deepEqual(
    sources.filter((source) => forbidden.test(source)),
    [],
  );
});

test("only one module knows addresses of the service", () => {
  const knowing = sources.filter((source) => /"\/v1|`\/v1|"\/health/.test(source));
  assert.equal(knowing.length, 1);
});
