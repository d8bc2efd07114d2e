// @ts-check
/**
 * The session with the service, what is loaded when it begins, and the watch over both. The stream of the queue is
 * the pulse: when it breaks, the service is away, and it is tried again until it answers.
 */

import { isAbort } from "./api.js";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;
const REFRESH_MS = 700;
/** Small files come and go between two looks of the queue's stream: what was added is looked for. */
const LOOKS_MS = [500, 1000, 2000, 3000, 5000, 8000, 13_000];
const LIBRARY_MS = 15_000;

/**
 * @param {{api: import("./api.js").Api, store: import("./state.js").Store, onBack: () => void}} parts `onBack` is
 *   called when the service answers again
 */
export function createConnection({ api, store, onBack }) {
  const { dispatch, get } = store;
  let pulse = new AbortController();
  let waiting = 0;
  /** @type {(() => void) | null} */
  let wake = null;

  /**
   * Whether an error is the session's or the connection's, and not to be said in words of its own.
   * @param {unknown} error
   */
  function notice(error) {
    if (isAbort(error)) return true;
    const { code } = /** @type {{code?: string}} */ (error);
    if (code === "unauthorized") dispatch({ type: "signed-out" });
    else if (code === "offline") {
      dispatch({ type: "disconnected" });
      if (!waiting) void recover();
    } else return false;
    return true;
  }

  /** Everything that the page shows of a project. */
  async function load() {
    try {
      const [health, documents] = await Promise.all([api.health(), api.documents()]);
      dispatch({ type: "signed-in" });
      dispatch({ type: "connected" });
      dispatch({ type: "health", health });
      dispatch({ type: "documents", documents });
    } catch (error) {
      if (!notice(error)) dispatch({ type: "notice", text: String(/** @type {Error} */ (error).message), bad: true });
      return false;
    }
    void follow();
    await Promise.all([
      optional(async () => dispatch({ type: "projects", projects: await api.projects() })),
      optional(async () => dispatch({ type: "conversations", conversations: await api.conversations() })),
    ]);
    return true;
  }

  /** What a service may be without. @param {() => Promise<void>} call */
  async function optional(call) {
    try {
      await call();
    } catch (error) {
      notice(error);
    }
  }

  /** Follows the queue; documents are read again when work has come to its end. */
  async function follow() {
    pulse.abort();
    pulse = new AbortController();
    const own = pulse;
    let paths = "";
    let due = 0;
    try {
      for await (const queue of api.jobStream(own.signal)) {
        dispatch({ type: "queue", queue });
        const now = queue.jobs.map((/** @type {{path: string}} */ job) => job.path).join("\n");
        if (now === paths) continue;
        paths = now;
        clearTimeout(due);
        due = window.setTimeout(() => void refresh(), REFRESH_MS);
      }
    } catch (error) {
      if (own.signal.aborted) return;
      if (!isAbort(error) && !notice(error)) return;
    } finally {
      clearTimeout(due);
    }
    if (!own.signal.aborted) notice({ code: "offline" });
  }

  async function refresh() {
    try {
      const [documents, health] = await Promise.all([api.documents(), api.health()]);
      dispatch({ type: "documents", documents });
      dispatch({ type: "health", health });
    } catch (error) {
      notice(error);
    }
  }

  /** Tries until the service answers, ever less often. */
  async function recover() {
    if (waiting) return;
    for (waiting = FIRST_WAIT_MS; get().connection === "away"; waiting = Math.min(LONGEST_WAIT_MS, waiting * 2)) {
      await new Promise((resolve) => {
        const timer = window.setTimeout(() => resolve(undefined), waiting);
        wake = () => {
          clearTimeout(timer);
          resolve(undefined);
        };
      });
      try {
        await api.health();
      } catch {
        continue;
      }
      dispatch({ type: "connected" });
    }
    waiting = 0;
    wake = null;
    if ((await load()) && get().session === "in") onBack();
  }

  /**
   * Reads the documents until those paths are among them, or for half a minute.
   * @param {string[]} paths
   */
  async function watchFor(paths) {
    for (const wait of LOOKS_MS) {
      await new Promise((resolve) => setTimeout(resolve, wait));
      await refresh();
      const known = new Set(get().documents?.map((document) => document.path));
      if (paths.every((path) => known.has(path))) return;
    }
  }

  setInterval(() => {
    const { view, session, connection } = get();
    if (view === "documents" && session === "in" && connection === "online" && !document.hidden) void refresh();
  }, LIBRARY_MS);

  // A page in the background holds no connection: browsers allow six for one service.
  document.addEventListener("visibilitychange", () => {
    if (get().session !== "in") return;
    if (document.hidden) pulse.abort();
    else if (get().connection === "online") void refresh().then(follow);
  });
  addEventListener("online", () => wake?.());

  return {
    notice,
    load,
    watchFor,
    retry: () => wake?.(),
    /** @param {string} code */
    async signIn(code) {
      try {
        await api.signIn(code);
      } catch (error) {
        const problem = /** @type {{code?: string, status?: number}} */ (error);
        if (problem.code === "offline") notice(error);
        dispatch({
          type: "signed-out",
          error: problem.status === 429 ? "slow" : problem.code === "offline" ? "offline" : "wrong",
        });
        return false;
      }
      return load();
    },
  };
}

/** @typedef {ReturnType<typeof createConnection>} Connection */
