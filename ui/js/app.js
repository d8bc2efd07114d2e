// @ts-check
/** Wires the page together: state, service, components. */

import { createBanner } from "../components/banner/banner.js";
import { createChat } from "../components/chat/chat.js";
import { createCard } from "../components/chip/chip.js";
import { createComposer } from "../components/composer/composer.js";
import { createDropZone, createLibrary } from "../components/library/library.js";
import { createSession } from "../components/session/session.js";
import { createSidebar } from "../components/sidebar/sidebar.js";
import { createTopbar } from "../components/topbar/topbar.js";
import { createViewer } from "../components/viewer/viewer.js";
import { createActions } from "./actions.js";
import { createApi } from "./api.js";
import { createConnection } from "./connection.js";
import { h } from "./dom.js";
import { createI18n, pickLanguage } from "./i18n.js";
import { attachKeys } from "./keys.js";
import { createPreferences } from "./preferences.js";
import { createSpeaker } from "./speaker.js";
import { createStore, INITIAL } from "./state.js";
import { readRoute, writeRoute } from "./route.js";

/**
 * @typedef {(name: string, detail?: any) => void} Emit
 * @typedef {{i18n: import("./i18n.js").I18n, emit: Emit, card: ReturnType<typeof createCard>,
 *   preferences: ReturnType<typeof createPreferences>,
 *   urls: Pick<import("./api.js").Api, "pageImage" | "original" | "exported">}} Context
 * @typedef {{t: (key: string, values?: any) => string, fill: (text: string) => void, focusQuestion: () => void,
 *   remember: () => void, restore: () => void, speak: (language: string) => void, wear: (theme: string) => void}} Page
 */

const preferences = createPreferences();
const root = /** @type {HTMLElement} */ (document.getElementById("app"));
const live = /** @type {HTMLElement} */ (document.getElementById("live"));
const route = readRoute(location.hash);
const store = createStore({ ...INITIAL, project: route.project || preferences.project(), view: route.view });
const api = createApi({ project: () => store.get().project });
/** @type {ReturnType<typeof build> | null} */
let built = null;
/** @type {HTMLElement | null} */
let opener = null;

/** @type {Page} */
const page = {
  t: (key, values) => built?.i18n.t(key, values) ?? key,
  fill: (text) => built?.composer.fill(text),
  focusQuestion: () => built?.composer.focus(),
  remember() {
    const active = /** @type {HTMLElement | null} */ (document.activeElement);
    if (active && !active.closest(".viewer") && active !== document.body) opener = active;
  },
  restore() {
    // The element may have been drawn anew since: the one of the same key in the same turn takes its place.
    if (opener?.isConnected) opener.focus();
    else /** @type {HTMLElement | null} */ (root.querySelector(".chip[aria-current]"))?.focus();
  },
  speak: (language) => {
    preferences.keepLanguage(language);
    void show(language);
  },
  wear(theme) {
    preferences.keepTheme(theme);
    document.documentElement.dataset.theme = theme;
  },
};
const connection = createConnection({ api, store, onBack: () => actions["held-sent"]({}) });
const actions = createActions({ api, store, connection, page });
/** @type {Emit} */
const emit = (name, detail = {}) => void actions[name]?.(detail);

/** @param {import("./i18n.js").I18n} i18n */
function build(i18n) {
  const card = createCard();
  /** @type {Context} */
  const ctx = { i18n, emit, card, preferences, urls: api };
  const leaving = new AbortController();
  const topbar = createTopbar(ctx);
  const banner = createBanner(ctx);
  const sidebar = createSidebar(ctx);
  const chat = createChat(ctx);
  const composer = createComposer(ctx);
  const library = createLibrary(ctx);
  const viewer = createViewer(ctx);
  const session = createSession(ctx);
  const drop = createDropZone(ctx, leaving.signal);
  const speaker = createSpeaker(live, i18n);
  const skip = h(
    "a",
    {
      class: "skip unseen",
      href: "#question",
      on: {
        click: (event) => (
          event.preventDefault(),
          store.get().view === "chat" ? composer.focus() : library.element.focus()
        ),
      },
    },
    i18n.t("skip"),
  );
  const desk = h(
    "div",
    { class: "desk" },
    sidebar.element,
    h("div", { class: "stage" }, chat.element, composer.element, library.element),
    viewer.element,
  );
  const parts = [topbar, banner, sidebar, chat, composer, library, viewer, session, speaker];
  root.replaceChildren(
    skip,
    topbar.element,
    banner.element,
    desk,
    session.element,
    sidebar.shade,
    card.element,
    drop.element,
  );
  attachKeys({ root, card, emit, store, signal: leaving.signal });
  return {
    i18n,
    composer,
    leave: () => leaving.abort(),
    /** @param {import("./state.js").State} state */
    render(state) {
      desk.hidden = state.session === "out";
      desk.classList.toggle("with-viewer", state.viewer !== null);
      for (const part of parts) part.render(state);
    },
  };
}

/** The page in a language. @param {string} language */
async function show(language) {
  const words = await (await fetch(new URL(`../i18n/${language}.json`, import.meta.url))).json();
  built?.leave();
  const i18n = createI18n(language, words);
  document.documentElement.lang = language;
  document.documentElement.dir = i18n.direction;
  built = build(i18n);
  built.render(store.get());
}

let drawing = false;
store.subscribe((state) => {
  writeRoute(state);
  preferences.keepProject(state.project);
  if (drawing) return;
  drawing = true;
  // A page that is not seen draws no frames, but its state must not grow stale.
  const soon = document.hidden ? (/** @type {() => void} */ draw) => setTimeout(draw, 50) : requestAnimationFrame;
  soon(() => {
    drawing = false;
    built?.render(store.get());
  });
});

addEventListener("hashchange", () => {
  const wanted = readRoute(location.hash);
  const state = store.get();
  if (wanted.code) void enter(wanted.code);
  else if (wanted.view !== state.view) emit("view-chosen", { view: wanted.view });
  else if (wanted.conversation !== state.conversationId)
    emit(wanted.conversation ? "conversation-chosen" : "conversation-new", { id: wanted.conversation });
});

/** @param {string} code */
async function enter(code) {
  // Before anything else: the code must not stay in the address or the history.
  history.replaceState(null, "", location.pathname);
  if (await connection.signIn(code)) page.focusQuestion();
}

document.documentElement.dataset.theme = preferences.theme();
await show(pickLanguage(preferences.language(), navigator.languages));
if (route.code) await enter(route.code);
else if ((await connection.load()) && route.conversation) emit("conversation-chosen", { id: route.conversation });
