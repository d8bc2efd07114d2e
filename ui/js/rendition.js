// @ts-check
/**
 * Renditions as plain values: read from the service as a document that runs nothing, kept as a tree of the tags and
 * attributes that a rendition may hold, built again by the page from text. See docs/renditions.md.
 */

/**
 * @typedef {{tag: string, attributes: Record<string, string>, children: (Leaf | string)[]}} Leaf
 * @typedef {{from: number, to: number, length: number, nodes: Leaf[]}} Part
 */

const TAGS = new Set("article h1 h2 h3 h4 h5 h6 p ul li aside dl div dt dd table thead tbody tr th td".split(" "));
const ATTRIBUTES = new Set("class data-place data-start dir id lang scope".split(" "));
const CLASSES = new Set(["image-text", "record", "marked"]);

/**
 * @param {string} address
 * @returns {Promise<Part>}
 */
export function readArticle(address) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("GET", address);
    request.responseType = "document";
    const fail = (/** @type {string} */ code) =>
      reject(Object.assign(new Error(code), { code, hint: "", status: request.status }));
    request.onerror = () => fail("offline");
    request.onload = () => {
      const article = request.response?.querySelector("article");
      if (request.status === 200 && article) resolve(partOf(article));
      else fail(request.status === 401 ? "unauthorized" : request.status === 404 ? "not_found" : "bad_rendition");
    };
    request.send();
  });
}

/** @param {Element} article @returns {Part} */
export function partOf(article) {
  const number = (/** @type {string} */ name) => Number(article.getAttribute(name) ?? 0);
  return {
    from: number("data-from"),
    to: number("data-to"),
    length: number("data-length"),
    nodes: [...article.children].map(leafOf).filter((leaf) => leaf !== null),
  };
}

/** @param {Element} element @returns {Leaf | null} */
function leafOf(element) {
  const tag = element.localName;
  if (!TAGS.has(tag)) return null;
  /** @type {Record<string, string>} */
  const attributes = {};
  for (const { name, value } of element.attributes) {
    if (ATTRIBUTES.has(name) && (name !== "class" || CLASSES.has(value))) attributes[name] = value;
  }
  /** @type {(Leaf | string)[]} */
  const children = [];
  for (const child of element.childNodes) {
    if (child.nodeType === 3) {
      const text = child.nodeValue ?? "";
      // Outside of bearers there are only the line breaks of the file.
      if (attributes["data-start"] !== undefined || tag === "dt" || tag === "dd") children.push(text);
    } else if (child.nodeType === 1) {
      const leaf = leafOf(/** @type {Element} */ (child));
      if (leaf) children.push(leaf);
    }
  }
  return { tag, attributes, children };
}

/**
 * A part after another. A table or list that goes on is one again, without the header that each part repeats.
 * @param {Part} first @param {Part} second
 * @returns {Part}
 */
export function joinParts(first, second) {
  const last = first.nodes.at(-1);
  const next = second.nodes[0];
  let nodes = second.nodes;
  let before = first.nodes;
  if (last && next && last.tag === "table" && next.tag === "table" && last.attributes.id === next.attributes.id) {
    const rows = next.children.filter((child) => typeof child !== "string" && child.tag === "tbody");
    before = [...first.nodes.slice(0, -1), { ...last, children: [...last.children, ...rows] }];
    nodes = second.nodes.slice(1);
  } else if (last && next && last.tag === "ul" && next.tag === "ul") {
    before = [...first.nodes.slice(0, -1), { ...last, children: [...last.children, ...next.children] }];
    nodes = second.nodes.slice(1);
  }
  return { from: first.from, to: second.to, length: second.length, nodes: [...before, ...nodes] };
}
