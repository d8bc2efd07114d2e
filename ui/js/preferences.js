// @ts-check
/** What a reader chose, kept in this browser. Nothing here is a secret; without storage the page works all the same. */

/** @param {Storage} storage @param {string} key @param {string} otherwise */
function read(storage, key, otherwise) {
  try {
    return storage.getItem(`rag-source.${key}`) ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** @param {Storage} storage @param {string} key @param {string} value */
function keep(storage, key, value) {
  try {
    storage.setItem(`rag-source.${key}`, value);
  } catch {
    // Storage is full or forbidden.
  }
}

export function createPreferences() {
  return {
    language: () => read(localStorage, "language", "") || null,
    /** @param {string} language */
    keepLanguage: (language) => keep(localStorage, "language", language),
    theme: () => read(localStorage, "theme", "auto"),
    /** @param {string} theme */
    keepTheme: (theme) => keep(localStorage, "theme", theme),
    project: () => read(sessionStorage, "project", "default"),
    /** @param {string} project */
    keepProject: (project) => keep(sessionStorage, "project", project),
    /** The question that is being written; it outlives a reload of the page, not the tab. */
    draft: () => read(sessionStorage, "draft", ""),
    /** @param {string} text */
    keepDraft: (text) => keep(sessionStorage, "draft", text),
  };
}
