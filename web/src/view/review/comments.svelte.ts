/** The review comments of one session: read from the server, and changed by intents. */
import { draftsOf, type LineRange, type ReviewComment } from "../../core/workbench/comments.ts";
import type { App } from "../app.svelte.ts";
import { uuid } from "../browser/browser.ts";
import { ask, wordsOf } from "../pages/asking.ts";

/** A file as comments name it. */
export interface CommentedFile {
  readonly id: string;
  readonly tree: "repository" | "folder";
}

export class ReviewComments {
  all = $state.raw<readonly ReviewComment[]>([]);
  problem = $state("");
  loaded = $state(false);
  readonly drafts = $derived(draftsOf(this.all));
  readonly #app: App;
  readonly #session: string;
  #reads = 0;

  constructor(app: App, session: string) {
    this.#app = app;
    this.#session = session;
  }

  /** Read the comments again; an older answer never replaces a newer one. */
  async read(): Promise<void> {
    const mine = ++this.#reads;
    try {
      const { comments } = await ask<{ comments: readonly ReviewComment[] }>(this.#app, `/api/sessions/${this.#session}/comments`);
      if (mine !== this.#reads) return;
      this.all = comments;
      this.loaded = true;
      this.problem = "";
    } catch (failure) {
      if (mine === this.#reads) this.problem = wordsOf(failure);
    }
  }

  of(file: CommentedFile): readonly ReviewComment[] {
    return this.all.filter((comment) => (file.tree === "folder" ? comment.file : comment.changed_file) === file.id);
  }

  async add(file: CommentedFile, range: LineRange, code: string, text: string): Promise<boolean> {
    const { side, start, end } = range;
    return this.#send({ kind: "put_comment", session: this.#session, id: uuid(), file: file.id, tree: file.tree, side, start, end, code, text, version: 0 });
  }

  /** Change the text; also takes over a comment of another device. */
  async edit(comment: ReviewComment, text: string): Promise<boolean> {
    return this.#send({ kind: "put_comment", session: this.#session, id: comment.id, version: comment.version, text });
  }

  async remove(comment: ReviewComment): Promise<boolean> {
    return this.#send({ kind: "delete_comment", session: this.#session, id: comment.id, version: comment.version });
  }

  async resolve(comment: ReviewComment, resolved: boolean): Promise<boolean> {
    return this.#send({ kind: "resolve_comment", session: this.#session, id: comment.id, resolved });
  }

  async send(comments: readonly ReviewComment[], text: string): Promise<boolean> {
    const named = comments.map(({ id, version }) => ({ id, version }));
    return this.#send({ kind: "send_review", session: this.#session, uuid: uuid(), comments: named, text });
  }

  async #send(intent: Parameters<App["send"]>[0]): Promise<boolean> {
    const result = await this.#app.send(intent);
    await this.read();
    return result.ok;
  }
}
