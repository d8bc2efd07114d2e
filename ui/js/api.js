// @ts-check
/**
 * The HTTP interface, and the only module that knows its addresses. Every call throws an `ApiError`; `code` decides
 * what the page does about it, never the message.
 */

import { answerEvent } from "./events.js";
import { readArticle } from "./rendition.js";
import { createParser } from "./sse.js";

/** Changes by cookie carry this header, which no other site can send. */
const GUARD = { "X-Rag-Source": "1" };
const NARROWEST_PX = 100;
const WIDEST_PX = 4000;

export class ApiError extends Error {
  /**
   * @param {string} code `offline` where no answer came at all
   * @param {string} message @param {string} hint @param {number} status
   */
  constructor(code, message, hint = "", status = 0) {
    super(message);
    this.code = code;
    this.hint = hint;
    this.status = status;
  }
}

/** @param {unknown} error */
export const isAbort = (error) => error instanceof DOMException && error.name === "AbortError";

/**
 * @param {{project: () => string, fetch?: typeof fetch}} options `project` names the project that is shown
 */
export function createApi({ project, fetch: send = (...a) => fetch(...a) }) {
  /** @param {string} path @param {Record<string, string | number | boolean>} [query] */
  function url(path, query = {}) {
    const search = new URLSearchParams();
    for (const [key, value] of Object.entries(query)) search.set(key, String(value));
    const name = project();
    if (name !== "default" && !path.startsWith("/v1/projects")) search.set("project", name);
    const text = search.toString();
    return text ? `${path}?${text}` : path;
  }

  /** @param {string} address @param {RequestInit} [init] */
  async function request(address, init = {}) {
    let response;
    const changes = init.method && init.method !== "GET";
    const headers = { ...(changes ? GUARD : {}), ...init.headers };
    try {
      response = await send(address, { credentials: "same-origin", ...init, headers });
    } catch (error) {
      if (isAbort(error)) throw error;
      throw new ApiError("offline", "the service does not answer");
    }
    if (response.ok) return response;
    const body = await response.json().catch(() => ({}));
    // A proxy that has no service behind it is as good as no answer.
    const away = [502, 504].includes(response.status) && !body.code;
    throw new ApiError(
      away ? "offline" : (body.code ?? `http_${response.status}`),
      body.message ?? response.statusText,
      body.hint ?? "",
      response.status,
    );
  }

  /** @param {string} path @param {Record<string, string | number | boolean>} [query] @param {RequestInit} [init] */
  const json = async (path, query, init) => (await request(url(path, query), init)).json();

  /** @param {string} path @param {unknown} [body] @param {string} [method] */
  const post = (path, body, method = "POST") =>
    request(url(path), {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
    });

  /**
   * The events of a stream until it ends.
   * @param {Response} response
   */
  async function* events(response) {
    const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
    const decoder = new TextDecoder();
    const parser = createParser();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        yield* parser.push(decoder.decode(value, { stream: true }));
      }
    } catch (error) {
      if (isAbort(error)) throw error;
      throw new ApiError("offline", "the connection was cut");
    } finally {
      reader.cancel().catch(() => {});
    }
  }

  /** @param {string} id */
  const documentPath = (id) => `/v1/documents/${encodeURIComponent(id)}`;

  return {
    health: () => json("/health"),
    /** @param {string} code */
    signIn: async (code) => void (await post("/v1/session", { code })),
    signOut: async () => void (await post("/v1/session", undefined, "DELETE")),

    documents: async () => /** @type {import("./events.js").DocumentRow[]} */ ((await json("/v1/documents")).documents),
    /** @param {string} id @returns {Promise<import("./events.js").DocumentDetail>} */
    document: async (id) => {
      const body = await json(documentPath(id));
      const sizes = Array.isArray(body.pages) ? body.pages : (body.page_sizes ?? []);
      return { ...body, pages: sizes.length, page_sizes: sizes };
    },
    /** @param {string} id @param {number} page */
    words: async (id, page) =>
      /** @type {import("./events.js").Word[]} */ ((await json(`${documentPath(id)}/pages/${page}/words`)).words),
    /** The address of a page's picture. @param {string} id @param {number} page @param {number} width_px */
    pageImage: (id, page, width_px) =>
      url(`${documentPath(id)}/pages/${page}`, {
        width: Math.min(WIDEST_PX, Math.max(NARROWEST_PX, Math.round(width_px))),
      }),
    /** The address of the original file. @param {string} id */
    original: (id) => url(`${documentPath(id)}/file`),
    /**
     * A part of a rendition. `XMLHttpRequest` reads it as a document that runs nothing.
     * @param {string} id @param {number} start @param {number} end
     */
    rendition: (id, start, end) => readArticle(url(`${documentPath(id)}/rendition`, { start, end })),
    /** @param {string} id @param {[number, number][]} ranges */
    locate: async (id, ranges) => (await post("/v1/locate", { doc_id: id, ranges })).json(),
    /** @param {File} file @param {{overwrite?: boolean, signal?: AbortSignal}} [options] */
    upload: (file, { overwrite = false, signal } = {}) =>
      request(url("/v1/documents", { path: file.name, ...(overwrite ? { overwrite: true } : {}) }), {
        method: "POST",
        body: file,
        headers: { "Content-Type": "application/octet-stream" },
        signal,
      }),

    jobs: () => json("/v1/jobs"),
    /** @param {string} action @param {string} [path] */
    control: async (action, path) => (await post(`/v1/jobs/${action}`, path ? { path } : {})).json(),
    /** The queue at once and after each change. @param {AbortSignal} signal */
    async *jobStream(signal) {
      const response = await request(url("/v1/jobs/stream"), { signal, headers: { Accept: "text/event-stream" } });
      for await (const event of events(response)) if (event.event === "jobs") yield JSON.parse(event.data);
    },

    projects: async () => (await json("/v1/projects")).projects,
    /** @param {string} name @param {string} folder */
    addProject: async (name, folder) => (await post("/v1/projects", { name, folder })).json(),
    /** @param {string} name */
    removeProject: async (name) => (await post(`/v1/projects/${encodeURIComponent(name)}`, undefined, "DELETE")).json(),

    conversations: async () => {
      const body = await json("/v1/conversations");
      return /** @type {import("./events.js").Conversation[]} */ (Array.isArray(body) ? body : body.conversations);
    },
    /** @param {string} id */
    conversation: (id) => json(`/v1/conversations/${encodeURIComponent(id)}`),
    /** The address of a conversation as Markdown. @param {string} id */
    exported: (id) => url(`/v1/conversations/${encodeURIComponent(id)}/export`),
    /** @param {string} id */
    removeConversation: async (id) =>
      void (await post(`/v1/conversations/${encodeURIComponent(id)}`, undefined, "DELETE")),
    /** @param {string} answerId @param {"good" | "bad"} verdict @param {string} comment */
    feedback: async (answerId, verdict, comment) =>
      void (await post(`/v1/answers/${encodeURIComponent(answerId)}/feedback`, {
        verdict,
        ...(comment ? { comment } : {}),
      })),

    /**
     * The events of one answer.
     * @param {{question: string, conversation_id?: string, sources?: string[]}} body
     * @param {AbortSignal} signal
     */
    async *ask(body, signal) {
      const response = await request(url("/v1/ask/stream"), {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
        signal,
      });
      let ended = false;
      for await (const event of events(response)) {
        const typed = answerEvent(event);
        if (!typed) continue;
        ended = typed.type === "done" || typed.type === "failed";
        yield typed;
        if (ended) return;
      }
      if (!ended) throw new ApiError("offline", "the answer was cut off");
    },
  };
}

/** @typedef {ReturnType<typeof createApi>} Api */
