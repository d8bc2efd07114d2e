// @ts-check
/** Projects, conversations, and how far the documents are. On a narrow screen it slides over. */

import { h, icon, iconButton } from "../../js/dom.js";

/** @param {import("../../js/app.js").Context} ctx */
export function createSidebar({ i18n, emit, urls }) {
  const { t } = i18n;
  const project = /** @type {HTMLSelectElement} */ (
    h("select", {
      id: "project",
      class: "field",
      on: { change: (event) => emit("project-chosen", { name: event.target.value }) },
    })
  );
  const list = h("ul", { class: "sidebar-list" });
  const empty = h("p", { class: "sidebar-empty" }, t("conversations.none"));
  const progress = h("button", {
    type: "button",
    class: "sidebar-progress",
    on: { click: () => emit("view-chosen", { view: "documents" }) },
  });
  const dialog = createProjectDialog(i18n, emit);
  const element = h(
    "aside",
    { class: "sidebar", "aria-label": t("sidebar") },
    h(
      "div",
      { class: "sidebar-project" },
      h("label", { for: "project", class: "sidebar-title" }, t("project")),
      h(
        "div",
        { class: "sidebar-row" },
        project,
        iconButton("plus", t("project.new"), () => dialog.open()),
        iconButton("trash", t("project.remove"), () => dialog.remove(project.value), { class: "sidebar-remove" }),
      ),
    ),
    h(
      "button",
      { type: "button", class: "button sidebar-new", on: { click: () => emit("conversation-new") } },
      icon("plus"),
      t("conversation.new"),
    ),
    h("h2", { class: "sidebar-title", id: "conversations-title" }, t("conversations")),
    h("nav", { class: "sidebar-conversations scrolls", "aria-labelledby": "conversations-title" }, list, empty),
    progress,
    dialog.element,
  );
  const shade = h("div", { class: "sidebar-shade", on: { click: () => emit("sidebar-toggled") } });
  /** @type {Partial<import("../../js/state.js").State>} */
  let before = {};

  /** @param {import("../../js/events.js").Conversation} conversation @param {boolean} current */
  function item(conversation, current) {
    const title = conversation.title || t("conversation.untitled");
    return h(
      "li",
      { class: "sidebar-item", data: { current: String(current) } },
      h(
        "button",
        {
          type: "button",
          class: "sidebar-open",
          "aria-current": current ? "true" : undefined,
          title,
          on: { click: () => emit("conversation-chosen", { id: conversation.id }) },
        },
        h("bdi", { class: "sidebar-name", dir: "auto" }, title),
        h("span", { class: "sidebar-when" }, i18n.time(conversation.updated_at)),
      ),
      h(
        "a",
        {
          class: "icon-button",
          href: urls.exported(conversation.id),
          download: "",
          "aria-label": t("conversation.export", { title }),
          title: t("conversation.export.short"),
        },
        icon("download"),
      ),
      iconButton("trash", t("conversation.remove", { title }), () => {
        if (confirm(t("conversation.remove.sure", { title }))) emit("conversation-removed", { id: conversation.id });
      }),
    );
  }

  /** @param {import("../../js/state.js").State} state */
  function renderProgress(state) {
    const { jobs, paused } = state.queue;
    const failed = (state.documents ?? []).filter((one) => one.status === "failed").length;
    const ready = (state.documents ?? []).filter((one) => one.status === "ready").length;
    const waiting = jobs.filter((job) => job.state !== "cancelled").length;
    const share = waiting ? ready / Math.max(1, ready + waiting) : 1;
    const bar = h("span", { class: "bar" }, h("span"));
    bar.style.setProperty("--share", String(share));
    progress.replaceChildren(
      h(
        "span",
        { class: "sidebar-row" },
        h("span", {}, t("documents.ready", { count: ready })),
        failed ? h("span", { class: "sidebar-failed" }, t("documents.failed", { count: failed })) : null,
      ),
      ...(waiting
        ? [bar, h("span", { class: "soft" }, paused ? t("queue.paused") : t("documents.waiting", { count: waiting }))]
        : []),
    );
  }

  return {
    element,
    shade,
    /** @param {import("../../js/state.js").State} state */
    render(state) {
      element.dataset.open = shade.dataset.open = String(state.sidebar);
      if (state.projects !== before.projects || state.project !== before.project) {
        const projects = state.projects.length ? state.projects : [{ name: state.project, folder: "" }];
        project.replaceChildren(
          ...projects.map((one) =>
            h(
              "option",
              { value: one.name, selected: one.name === state.project, title: one.folder },
              one.name === "default" ? t("project.default") : one.name,
            ),
          ),
        );
        project.title = projects.find((one) => one.name === state.project)?.folder ?? "";
        /** @type {HTMLElement} */ (element.querySelector(".sidebar-remove")).hidden = state.project === "default";
      }
      if (state.conversations !== before.conversations || state.conversationId !== before.conversationId) {
        list.replaceChildren(...state.conversations.map((one) => item(one, one.id === state.conversationId)));
        empty.hidden = state.conversations.length > 0;
      }
      if (state.documents !== before.documents || state.queue !== before.queue) renderProgress(state);
      before = state;
    },
  };
}

/** @param {import("../../js/i18n.js").I18n} i18n @param {import("../../js/app.js").Emit} emit */
function createProjectDialog({ t }, emit) {
  const name = /** @type {HTMLInputElement} */ (
    h("input", {
      id: "project-name",
      class: "field",
      required: true,
      maxlength: 63,
      autocomplete: "off",
      pattern: "[a-z0-9][a-z0-9_\\-]*",
      title: t("project.name.form"),
      dir: "ltr",
    })
  );
  const folder = /** @type {HTMLInputElement} */ (
    h("input", {
      id: "project-folder",
      class: "field",
      required: true,
      autocomplete: "off",
      spellcheck: "false",
      dir: "ltr",
    })
  );
  const dialog = /** @type {HTMLDialogElement} */ (
    h(
      "dialog",
      { class: "dialog", "aria-labelledby": "project-title" },
      h(
        "form",
        {
          class: "dialog-form",
          on: {
            submit: (event) => {
              event.preventDefault();
              emit("project-added", { name: name.value.trim(), folder: folder.value.trim() });
              dialog.close();
            },
          },
        },
        h("h2", { id: "project-title" }, t("project.new")),
        h("p", { class: "soft" }, t("project.new.how")),
        h("label", { for: "project-name" }, t("project.name")),
        name,
        h("label", { for: "project-folder" }, t("project.folder")),
        folder,
        h(
          "div",
          { class: "dialog-actions" },
          h("button", { type: "button", class: "button", on: { click: () => dialog.close() } }, t("cancel")),
          h("button", { type: "submit", class: "button primary" }, t("project.add")),
        ),
      ),
    )
  );
  return {
    element: dialog,
    open() {
      name.value = folder.value = "";
      dialog.showModal();
    },
    /** @param {string} project */
    remove(project) {
      if (project !== "default" && confirm(t("project.remove.sure", { name: project })))
        emit("project-removed", { name: project });
    },
  };
}
