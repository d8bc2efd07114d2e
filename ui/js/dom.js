// @ts-check
/** Elements from names and text. Nothing here takes markup. */

/**
 * @typedef {Node | string | null | undefined | false} Child
 * @typedef {Record<string, unknown> & {
 *   on?: Record<string, (event: any) => void>, data?: Record<string, string | number>, text?: string}} Properties
 */

/**
 * An element. Properties are attributes, but for `text` (its text), `on` (listeners), `data` (data-…), and
 * booleans, which are attributes without a value. Strings among the children become text.
 * @param {string} tag
 * @param {Properties} [properties]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "text") element.textContent = String(value);
    else if (name === "on") {
      for (const [type, listener] of Object.entries(/** @type {object} */ (value)))
        element.addEventListener(type, listener);
    } else if (name === "data") {
      for (const [key, item] of Object.entries(/** @type {object} */ (value))) element.dataset[key] = String(item);
    } else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(
    ...children
      .flat()
      .filter((child) => child !== null && child !== undefined && child !== false)
      .map(asNode),
  );
  return element;
}

/** @param {Child} child */
function asNode(child) {
  return typeof child === "string" ? document.createTextNode(child) : /** @type {Node} */ (child);
}

const SVG = "http://www.w3.org/2000/svg";
/** Paths of the icons on a grid of 24, drawn for this page. */
const ICONS = {
  stop: "M7 7h10v10H7z",
  close: "M6 6l12 12M18 6L6 18",
  next: "M9 6l6 6-6 6",
  previous: "M15 6l-6 6 6 6",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  download: "M12 4v11M7 11l5 5 5-5M5 20h14",
  upload: "M12 20V9M7 13l5-5 5 5M5 4h14",
  menu: "M4 7h16M4 12h16M4 17h16",
  pause: "M9 6v12M15 6v12",
  play: "M8 5l11 7-11 7z",
  retry: "M19 12a7 7 0 1 1-2-5M19 4v4h-4",
  good: "M7 11v8H4v-8zM7 12l4-8c2 0 2.5 1.5 2 3l-.6 3H19l-2 9H7",
  bad: "M7 13V5H4v8zM7 12l4 8c2 0 2.5-1.5 2-3l-.6-3H19l-2-9H7",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  text: "M5 6h14M5 10h14M5 14h14M5 18h8",
  page: "M6 3h8l4 4v14H6zM14 3v4h4",
  copy: "M9 9h10v11H9zM5 15V4h10",
  fit: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  top: "M12 19V6M6 11l6-6 6 6M5 3h14",
  send: "M12 19V5M6 11l6-6 6 6",
  contrast: "M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 0 1 0 16M12 7h4M12 11h7M12 15h6",
};

/**
 * A decorative icon; the control that holds it has the name.
 * @param {keyof typeof ICONS} name
 * @param {boolean} [mirrors] whether it points along the line and turns with its direction
 */
export function icon(name, mirrors = false) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", mirrors ? "icon mirrors" : "icon");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/**
 * A button with an icon and a name for those who do not see it.
 * @param {keyof typeof ICONS} name @param {string} label @param {(event: Event) => void} onClick
 * @param {{mirrors?: boolean, disabled?: boolean, class?: string, pressed?: boolean}} [options]
 */
export function iconButton(name, label, onClick, options = {}) {
  return h(
    "button",
    {
      type: "button",
      class: `icon-button ${options.class ?? ""}`.trim(),
      "aria-label": label,
      title: label,
      disabled: options.disabled,
      "aria-pressed": options.pressed === undefined ? undefined : String(options.pressed),
      on: { click: onClick },
    },
    icon(name, options.mirrors),
  );
}
