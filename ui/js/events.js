// @ts-check
/**
 * The shapes that cross the wire, as JSDoc types, and the way from the bytes of a stream to them. The service's
 * OpenAPI description is the source; a test compares the names of the fields.
 */

/**
 * @typedef {{page: number, x0: number, y0: number, x1: number, y1: number}} Box  fractions of the displayed page
 * @typedef {{row: number, columns: string[], sheet: string}} TablePlace
 * @typedef {"verified" | "unverified" | "rejected"} Verdict
 * @typedef {{marker: number, status: Verdict, score: number, quote: string, path: string, doc_id?: string,
 *   page: number | null, block: string, start: number, end: number, ranges?: [number, number][], boxes: Box[],
 *   chunk_id: string, reason: string, added: boolean, sentence: [number, number], occurrences: number,
 *   table: TablePlace | null}} Citation
 * @typedef {{rank: number, score: number, kept: boolean, path: string, doc_id?: string, page: number | null,
 *   section: string, text: string, chunk_id: string, start?: number, end?: number}} Hit
 * @typedef {{query: string, mode: string, threshold: number | null, results: Hit[],
 *   timings_ms: Record<string, number>}} Search
 * @typedef {{path: string, page: number | null, section: string, text: string, score: number,
 *   threshold: number}} NearMiss
 * @typedef {{path: string, block: string, start: number, end: number, value: string, citation: number | null}} CalculatedRow
 * @typedef {{operation: string, column: string, unit: string, result: string, row_count: number, documents?: string[],
 *   rows?: CalculatedRow[], missing_count?: number, conditions?: string[], grouped_by?: string,
 *   groups?: {name: string, result: string, unit: string, rows: number}[], exact?: boolean, reason?: string}} Calculation
 * @typedef {{question: string, answer: string, refused: boolean, reason: string, language: string,
 *   citations: Citation[], uncited_figures: string[], badge: string, near_miss: NearMiss | null,
 *   timings_ms: Record<string, number>, answer_id?: string, conversation_id?: string, created_at?: string,
 *   search?: Search | null, calculation?: Calculation | null, feedback?: {verdict: "good" | "bad", comment: string} | null}} Answer
 * @typedef {{code: string, message: string, hint: string}} Failure
 * @typedef {{type: "search", search: Search} | {type: "token", text: string} | {type: "citation", citation: Citation}
 *   | {type: "done", answer: Answer, conversation_id?: string, answer_id?: string} | ({type: "failed"} & Failure)} AnswerEvent
 * @typedef {{doc_id: string, path: string, status: "indexing" | "ready" | "failed", code: string, message: string,
 *   warnings: string[], format: string, title: string, language: string, size_bytes: number, pages: number,
 *   blocks: number, tables: number, chunks: number, indexed_at: string}} DocumentRow
 * @typedef {DocumentRow & {view: "pages" | "rendition", length: number, page_sizes: PageSize[]}} DocumentDetail
 * @typedef {{number: number, width: number, height: number}} PageSize  points of the displayed page
 * @typedef {{text: string, start: number, end: number, x0: number, y0: number, x1: number, y1: number,
 *   confidence: number | null}} Word
 * @typedef {{path: string, state: string, done: number, total: number, priority: number, queued_at: string}} Job
 * @typedef {{paused: boolean, jobs: Job[]}} Queue
 * @typedef {{id: string, title: string, created_at: string, updated_at: string, answers: number}} Conversation
 * @typedef {{name: string, folder: string}} Project
 */

const ANSWER_EVENTS = new Set(["search", "token", "citation", "done", "failed"]);

/**
 * The typed event of a server-sent one; null for what this page does not know, so that a newer service can say more.
 * @param {import("./sse.js").ServerEvent} event
 * @returns {AnswerEvent | null}
 */
export function answerEvent(event) {
  const type = event.event;
  if (!ANSWER_EVENTS.has(type)) return null;
  return { ...JSON.parse(event.data), type };
}
