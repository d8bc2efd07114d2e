// @ts-check
/** What is shown, in the fragment of the address, so that reloading and going back keep it. */

/**
 * `#code=…` is a one-time link; `#/PROJECT/documents` and `#/PROJECT/chat/ID` name a view.
 * @param {string} hash
 * @returns {{code: string, project: string, view: "chat" | "documents", conversation: string}}
 */
export function readRoute(hash) {
  const code = /^#code=(.+)$/.exec(hash)?.[1] ?? "";
  const [project = "", view = "", conversation = ""] = code ? [] : hash.replace(/^#\/?/, "").split("/").map(decode);
  return {
    code,
    project,
    view: view === "documents" ? "documents" : "chat",
    conversation: view === "chat" ? conversation : "",
  };
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** @param {{project: string, view: string, conversationId: string}} state */
export function routeOf({ project, view, conversationId }) {
  const last = view === "chat" && conversationId ? `/${encodeURIComponent(conversationId)}` : "";
  return `#/${encodeURIComponent(project)}/${view}${last}`;
}

/** @param {import("./state.js").State} state */
export function writeRoute(state) {
  if (state.session !== "in") return;
  const wanted = routeOf(state);
  if (location.hash === wanted) return;
  // A conversation that has just got its name is the same place still.
  const named = location.hash === routeOf({ ...state, conversationId: "" });
  if (named || !location.hash) history.replaceState(null, "", wanted);
  else history.pushState(null, "", wanted);
}
