// @ts-check
/** The documents: what is ready, what is under way and how far, what failed, why, and what to do. */

import { h, icon, iconButton } from "../../js/dom.js";
import { libraryRows } from "../../js/state.js";

/** Rows that are drawn at first; a folder may hold tens of thousands. */
const SHOWN = 200;

/** @param {import("../../js/app.js").Context} ctx */
export function createLibrary(ctx) {
  const { i18n, emit } = ctx;
  const { t } = i18n;
  const picker = /** @type {HTMLInputElement} */ (
    h("input", {
      type: "file",
      multiple: true,
      hidden: true,
      tabindex: "-1",
      "aria-hidden": "true",
      on: {
        change: () => {
          emit("files-given", { files: [...(picker.files ?? [])] });
          picker.value = "";
        },
      },
    })
  );
  const filter = /** @type {HTMLInputElement} */ (
    h("input", {
      class: "field library-filter",
      type: "search",
      "aria-label": t("library.filter"),
      placeholder: t("library.filter"),
      on: { input: () => draw() },
    })
  );
  const pause = h("button", {
    type: "button",
    class: "button",
    on: { click: () => emit("queue-controlled", { action: shown?.queue.paused ? "resume" : "pause" }) },
  });
  const summary = h("p", { class: "soft library-summary" });
  const uploads = h("ul", { class: "library-uploads", "aria-label": t("upload.title") });
  const body = h("tbody");
  const table = h(
    "table",
    { class: "library-table" },
    h("caption", { class: "unseen" }, t("nav.documents")),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        ["name", "kind", "pages", "state", "when"].map((name) =>
          h("th", { scope: "col", class: `library-${name}` }, t(`library.column.${name}`)),
        ),
        h("th", { scope: "col" }, h("span", { class: "unseen" }, t("library.column.actions"))),
      ),
    ),
    body,
  );
  const more = h(
    "button",
    { type: "button", class: "button", hidden: true, on: { click: () => ((limit *= 4), draw()) } },
    t("library.more"),
  );
  const empty = h("div", { class: "library-empty" });
  const element = h(
    "main",
    { id: "documents", class: "library scrolls", tabindex: "-1", "aria-label": t("nav.documents"), hidden: true },
    h(
      "div",
      { class: "library-inner" },
      h(
        "header",
        { class: "library-head" },
        h("div", {}, h("h1", {}, t("nav.documents")), summary),
        h(
          "div",
          { class: "library-tools" },
          filter,
          pause,
          h(
            "button",
            { type: "button", class: "button primary", on: { click: () => picker.click() } },
            icon("upload"),
            t("upload.choose"),
          ),
          picker,
        ),
      ),
      uploads,
      table,
      more,
      empty,
    ),
  );
  /** @type {import("../../js/state.js").State | null} */
  let shown = null;
  let limit = SHOWN;
  /** @type {Map<string, {element: HTMLElement, row: any}>} */
  const drawn = new Map();

  function draw() {
    if (!shown) return;
    const wanted = filter.value.trim().toLocaleLowerCase();
    const rows = libraryRows(shown.documents ?? [], shown.queue).filter(
      (row) => !wanted || row.path.toLocaleLowerCase().includes(wanted),
    );
    const kept = new Set();
    const elements = rows.slice(0, limit).map((row) => {
      kept.add(row.path);
      const old = drawn.get(row.path);
      // A row that did not change stays the same element, so that the focus in it stays too.
      if (old && old.row.document === row.document && sameJob(old.row.job, row.job)) return old.element;
      const focused = old?.element.contains(document.activeElement)
        ? /** @type {HTMLElement} */ (document.activeElement).dataset.key
        : "";
      const fresh = rowElement(ctx, row);
      drawn.set(row.path, { element: fresh, row });
      if (focused && old) {
        old.element.replaceWith(fresh);
        /** @type {HTMLElement | null} */ (fresh.querySelector(`[data-key="${focused}"]`))?.focus();
      }
      return fresh;
    });
    for (const path of [...drawn.keys()]) if (!kept.has(path)) drawn.delete(path);
    place(body, elements);
    more.hidden = rows.length <= limit;
    table.hidden = !rows.length;
    renderEmpty(rows.length);
  }

  /** @param {number} count */
  function renderEmpty(count) {
    empty.hidden = count > 0;
    if (count || !shown) return;
    const folder = shown.projects.find((one) => one.name === shown?.project)?.folder;
    const none = shown.documents?.length || shown.queue.jobs.length;
    empty.replaceChildren(
      ...(shown.documents === null
        ? [h("p", { class: "soft" }, t("loading"))]
        : none
          ? [h("p", { class: "soft" }, t("library.no_match"))]
          : [
              icon("upload"),
              h("h2", {}, t("library.none")),
              h(
                "p",
                {},
                i18n.parts("library.none.how", {
                  folder: folder ? h("code", { dir: "ltr" }, folder) : t("empty.folder"),
                }),
              ),
              h("p", { class: "soft" }, t("empty.formats")),
            ]),
    );
  }

  return {
    element,
    /** @param {import("../../js/state.js").State} state */
    render(state) {
      element.hidden = state.view !== "documents";
      const before = shown;
      shown = state;
      if (state.view !== "documents") return;
      if (before?.uploads !== state.uploads)
        uploads.replaceChildren(...state.uploads.map((one) => uploadItem(ctx, one)));
      if (
        before?.documents === state.documents &&
        before?.queue === state.queue &&
        before?.view === state.view &&
        before?.health === state.health &&
        before?.projects === state.projects
      )
        return;
      const documents = state.documents ?? [];
      const remade = state.health?.reembedding;
      const count = (/** @type {string} */ status) => documents.filter((one) => one.status === status).length;
      summary.textContent = [
        t("documents.ready", { count: count("ready") }),
        count("failed") ? t("documents.failed", { count: count("failed") }) : "",
        state.queue.jobs.length ? t("documents.waiting", { count: state.queue.jobs.length }) : "",
        remade ? t("documents.remade", { done: remade.done, total: remade.total, model: remade.wanted }) : "",
      ]
        .filter(Boolean)
        .join(" · ");
      pause.replaceChildren(
        icon(state.queue.paused ? "play" : "pause"),
        t(state.queue.paused ? "queue.resume" : "queue.pause"),
      );
      draw();
    },
  };
}

/** @param {import("../../js/events.js").Job | null} a @param {import("../../js/events.js").Job | null} b */
const sameJob = (a, b) => a === b || (!!a && !!b && a.state === b.state && a.done === b.done && a.total === b.total);

/** Puts elements in order, touching only what moves. @param {HTMLElement} parent @param {HTMLElement[]} elements */
function place(parent, elements) {
  const wanted = new Set(elements);
  for (const child of [...parent.children]) if (!wanted.has(/** @type {HTMLElement} */ (child))) child.remove();
  elements.forEach((element, index) => {
    if (parent.children[index] !== element) parent.insertBefore(element, parent.children[index] ?? null);
  });
}

/** @param {import("../../js/app.js").Context} ctx @param {ReturnType<typeof libraryRows>[0]} row */
function rowElement(ctx, row) {
  const { i18n, emit } = ctx;
  const { document, job, path } = row;
  const open = (/** @type {string} */ mode) => emit("document-opened", { docId: document.doc_id, path, mode });
  const slash = path.lastIndexOf("/") + 1;
  const name = [slash ? h("span", { class: "soft" }, path.slice(0, slash)) : null, path.slice(slash)];
  return h(
    "tr",
    { data: { status: job ? "busy" : document.status } },
    h(
      "th",
      { scope: "row", class: "library-name" },
      document && document.chunks
        ? h(
            "button",
            { type: "button", class: "library-open", data: { key: "open" }, on: { click: () => open("") } },
            h("bdi", {}, name),
          )
        : h("bdi", {}, name),
      document?.status === "failed" && !job ? h("span", { class: "library-why", dir: "auto" }, document.message) : null,
      ...(document?.warnings.length && !job ? [warnings(i18n, document.warnings)] : []),
    ),
    h("td", { class: "library-kind" }, (document?.format || path.split(".").at(-1) || "").toUpperCase()),
    h("td", { class: "library-pages" }, document?.pages ? i18n.number(document.pages) : ""),
    h("td", { class: "library-state" }, stateCell(i18n, row)),
    h("td", { class: "library-when" }, document && !job ? i18n.time(document.indexed_at) : ""),
    h("td", { class: "library-actions" }, rowActions(ctx, row, open)),
  );
}

/** @param {import("../../js/i18n.js").I18n} i18n @param {string[]} texts */
function warnings({ t }, texts) {
  return h(
    "details",
    { class: "library-warnings" },
    h("summary", {}, t("library.warnings", { count: texts.length })),
    h(
      "ul",
      {},
      texts.map((text) => h("li", { dir: "auto" }, text)),
    ),
  );
}

/** @param {import("../../js/i18n.js").I18n} i18n @param {ReturnType<typeof libraryRows>[0]} row */
function stateCell(i18n, { document, job, path }) {
  const { t } = i18n;
  if (job) {
    const label = t(`state.${job.state}`);
    const counted = job.total > 0;
    const bar = h(
      "span",
      {
        class: "bar",
        role: "progressbar",
        "aria-label": t("library.progress", { path, state: label }),
        "aria-valuemin": 0,
        "aria-valuemax": job.total || 1,
        "aria-valuenow": counted ? job.done : undefined,
        "aria-valuetext": counted ? `${job.done} / ${job.total}` : label,
      },
      h("span"),
    );
    bar.style.setProperty("--share", String(counted ? job.done / job.total : 0));
    const waits = ["queued", "paused", "cancelled"].includes(job.state);
    return [
      h(
        "span",
        { class: "library-label", data: { state: job.state } },
        label,
        counted && !waits ? h("bdi", { class: "soft" }, ` ${job.done} / ${job.total}`) : null,
      ),
      ...(waits ? [] : [bar]),
    ];
  }
  if (document.status === "failed") {
    const reason = i18n.has(`reason.${document.code}`) ? t(`reason.${document.code}`) : document.code;
    return [
      h(
        "span",
        { class: "library-label", data: { state: "failed" } },
        h("span", { "aria-hidden": "true" }, "! "),
        reason,
      ),
    ];
  }
  return [h("span", { class: "library-label", data: { state: document.status } }, t(`state.${document.status}`))];
}

/** @param {import("../../js/app.js").Context} ctx @param {ReturnType<typeof libraryRows>[0]} row @param {(mode: string) => void} open */
function rowActions({ i18n, emit }, { document, job, path }, open) {
  const { t } = i18n;
  /** @param {Parameters<typeof iconButton>[0]} picture @param {string} action */
  const act = (picture, action) => {
    const button = iconButton(picture, t(`action.${action}`, { path }), () =>
      emit("queue-controlled", { action, path }),
    );
    button.dataset.key = action;
    return button;
  };
  if (job) {
    const isHeld = job.state === "paused" || job.state === "cancelled";
    return [
      job.state === "queued" ? act("top", "prefer") : null,
      isHeld ? act("play", "resume") : act("pause", "pause"),
      job.state === "cancelled" ? null : act("close", "cancel"),
    ];
  }
  if (document.status === "failed") return [act("retry", "retry")];
  if (!document.chunks) return [];
  const text = iconButton("text", t("action.extracted", { path }), () => open("rendition"));
  text.dataset.key = "text";
  return [text];
}

/** @param {import("../../js/app.js").Context} ctx @param {import("../../js/state.js").Upload} upload */
function uploadItem({ i18n, emit }, upload) {
  const { t } = i18n;
  return h(
    "li",
    { data: { state: upload.state } },
    h("bdi", { class: "library-upload-name" }, upload.name),
    h("span", { class: "soft" }, i18n.size(upload.size)),
    h("span", {}, upload.message || t(`upload.${upload.state}`)),
    upload.state === "failed" && upload.code === "exists"
      ? h(
          "button",
          { type: "button", class: "button", on: { click: () => emit("upload-again", { id: upload.id }) } },
          t("upload.replace"),
        )
      : null,
  );
}

/**
 * Files may be dropped anywhere on the page.
 * @param {import("../../js/app.js").Context} ctx
 */
export function createDropZone({ i18n, emit }, signal = new AbortController().signal) {
  const element = h(
    "div",
    { class: "drop", hidden: true, "aria-hidden": "true" },
    h("p", {}, icon("upload"), i18n.t("upload.drop")),
  );
  let depth = 0;
  const carriesFiles = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files") ?? false;
  const show = (/** @type {number} */ by) => {
    depth = Math.max(0, depth + by);
    element.hidden = depth === 0;
  };
  addEventListener("dragenter", (event) => carriesFiles(event) && show(1), { signal });
  addEventListener("dragleave", (event) => carriesFiles(event) && show(-1), { signal });
  addEventListener("dragover", (event) => carriesFiles(event) && event.preventDefault(), { signal });
  addEventListener(
    "drop",
    (event) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      show(-depth);
      emit("files-given", { files: [...(event.dataTransfer?.files ?? [])] });
    },
    { signal },
  );
  return { element };
}
