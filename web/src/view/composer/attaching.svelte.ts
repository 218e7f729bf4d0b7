/** The attachments of a prompt: added, uploaded at once, removed, or sent with the prompt. */
import type { App } from "../app.svelte.ts";
import { keep } from "../browser/browser.ts";
import { attached, type Attached, forget, heldFiles, holdFiles, MOST_FILES, upload } from "./uploads.ts";

/** An uploaded file, as a prompt refers to it. */
export interface Upload {
  readonly upload: string;
  readonly name: string;
}

export class Attaching {
  files = $state.raw<readonly Attached[]>([]);
  readonly sending = $derived(this.files.some((file) => file.state === "sending"));
  readonly failed = $derived(this.files.some((file) => file.state === "failed"));
  readonly ready = $derived(this.files.filter((file) => file.state === "ready"));
  readonly #app: App;
  readonly #session: string;

  constructor(app: App, session: string) {
    this.#app = app;
    this.#session = session;
    this.files = heldFiles(keep, session);
  }

  async add(list: Iterable<File>): Promise<void> {
    const all = [...list];
    const given = all.slice(0, MOST_FILES - this.files.length);
    if (given.length < all.length) this.#app.say(`You can attach up to ${MOST_FILES} files.`, "bad");
    await Promise.all(given.map((file) => this.#send(file)));
  }

  remove(key: number): void {
    this.files.filter((file) => file.key === key).forEach(forget);
    this.#hold(this.files.filter((file) => file.key !== key));
  }

  /** Return all uploaded files for a prompt, and clear the list. */
  take(): readonly Upload[] {
    const taken = this.ready.map((file) => ({ upload: file.upload ?? "", name: file.name }));
    this.files.forEach(forget);
    this.#hold([]);
    return taken;
  }

  async #send(file: File): Promise<void> {
    const shown = attached(file);
    this.#hold([...this.files, shown]);
    const done = await upload(this.#app, file, shown, this.#session);
    this.#hold(this.files.map((file) => (file.key === shown.key ? done : file)));
  }

  #hold(list: readonly Attached[]): void {
    this.files = list;
    holdFiles(keep, this.#session, list);
  }
}
