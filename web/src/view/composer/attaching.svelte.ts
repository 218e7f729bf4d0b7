/** The files that go with a prompt: added, sent to the server at once, removed, taken by the prompt. */
import type { App } from "../app.svelte.ts";
import { keep } from "../browser.ts";
import { attached, type Attached, forget, heldFiles, holdFiles, MOST_FILES, upload } from "./uploads.ts";

/** A file that the server has, as a prompt names it. */
export interface Upload {
  readonly upload: string;
  readonly name: string;
}

export class Attaching {
  files = $state.raw<readonly Attached[]>([]);
  readonly sending = $derived(this.files.some((one) => one.state === "sending"));
  readonly failed = $derived(this.files.some((one) => one.state === "failed"));
  readonly ready = $derived(this.files.filter((one) => one.state === "ready"));
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
    if (given.length < all.length) this.#app.say(`A message can carry ${MOST_FILES} files at most.`, "bad");
    await Promise.all(given.map((file) => this.#send(file)));
  }

  remove(key: number): void {
    this.files.filter((one) => one.key === key).forEach(forget);
    this.#hold(this.files.filter((one) => one.key !== key));
  }

  /** Give all that are ready to a prompt; none are left. */
  take(): readonly Upload[] {
    const taken = this.ready.map((one) => ({ upload: one.upload ?? "", name: one.name }));
    this.files.forEach(forget);
    this.#hold([]);
    return taken;
  }

  async #send(file: File): Promise<void> {
    const shown = attached(file);
    this.#hold([...this.files, shown]);
    const done = await upload(this.#app, file, shown);
    this.#hold(this.files.map((one) => (one.key === shown.key ? done : one)));
  }

  #hold(list: readonly Attached[]): void {
    this.files = list;
    holdFiles(keep, this.#session, list);
  }
}
