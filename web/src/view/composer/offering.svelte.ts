/** Completions for the word at the caret: commands after a slash, files and resources after an @. */
import { slashCommands, slashWord } from "../../core/matching.ts";
import type { App } from "../app.svelte.ts";
import { commandOffers, connected, knownResources, mentionAt, nameOffers, type Offer, resourceOffers, serverOffers, withMention } from "./mentions.ts";
import { NameSearch } from "./names.svelte.ts";

/** The text and the known names; read again when they change. */
export interface Given {
  readonly text: string;
  readonly commands: readonly unknown[];
  readonly mayWrite: boolean;
  /** The folder of a session that does not exist yet. */
  readonly folder?: string | null;
}

export class Offering {
  caret = $state(0);
  chosen = $state(0);
  #closed = $state(false);
  readonly #app: App;
  readonly #session: string;
  readonly #given: Given;
  readonly #names: NameSearch;

  /** Created while a component is initialized; it searches for names while the component exists. */
  constructor(app: App, session: string, given: Given) {
    this.#app = app;
    this.#session = session;
    this.#given = given;
    this.#names = new NameSearch(app, () => (given.folder == null ? `/api/sessions/${session}/names?` : `/api/names?cwd=${encodeURIComponent(given.folder)}&`));
    $effect(() => {
      const looking = this.#mention && !this.#closed && this.#given.mayWrite;
      this.#names.look(looking ? (this.#mention?.typed ?? null) : null);
    });
  }

  readonly #known = $derived.by(() => slashCommands(this.#given.commands));
  readonly #word = $derived.by(() => slashWord(this.#given.text, this.caret));
  readonly #mention = $derived.by(() => (this.#word === null ? mentionAt(this.#given.text, this.caret) : null));
  readonly #servers = $derived.by(() => connected(this.#app.transcript(this.#session)?.session.mcp_servers ?? []));
  /** The resources of this session, and those that another open session has listed of the same servers. */
  readonly #resources = $derived.by(() => {
    if (!this.#mention) return [];
    const own = knownResources(this.#app.transcript(this.#session)?.items ?? []);
    const others = [...this.#app.known.documents.keys()]
      .filter((id) => id !== this.#session)
      .flatMap((id) => knownResources(this.#app.transcript(id)?.items ?? []))
      .filter((resource) => this.#servers.includes(resource.server));
    return [...new Map([...others, ...own].map((resource) => [`${resource.server} ${resource.uri}`, resource])).values()];
  });

  /** The lines of the list; empty if it is closed. */
  readonly list = $derived.by<readonly Offer[]>(() => {
    if (this.#closed) return [];
    if (this.#word !== null) return commandOffers(this.#word, this.#known);
    if (this.#mention === null) return [];
    const { typed } = this.#mention;
    const unlisted = this.#servers.filter((name) => !this.#resources.some((resource) => resource.server === name));
    return [
      ...resourceOffers(typed, this.#resources),
      ...nameOffers(this.#names.fitting(typed)),
      ...(typed === "" ? [] : serverOffers(typed, unlisted)),
    ];
  });
  readonly label = $derived(this.#word === null ? "Files and resources" : "Commands");
  readonly note = $derived.by(() =>
    this.#word === null && this.#names.partial ? "Large folder: some files are not listed." : "",
  );

  /** The text changed: the list opens again, at its first line. */
  reopen(caret: number): void {
    this.caret = caret;
    this.chosen = 0;
    this.#closed = false;
  }

  close(): void {
    this.#closed = true;
  }

  /** The caret may have moved. */
  moved(caret: number): void {
    if (this.caret !== caret) this.chosen = 0;
    this.caret = caret;
  }

  /** The text after an offer was chosen, and the new position of the caret. */
  taken(offer: Offer): { readonly text: string; readonly caret: number } {
    const { text } = this.#given;
    if (this.#mention !== null) return withMention(text, this.caret, this.#mention, offer);
    return { text: `${offer.text} `, caret: offer.text.length + 1 };
  }

  /**
   * Whether Enter or Tab has to wait for the names: a name is being typed, and no known name
   * fits. Otherwise the meaning of the key (send or choose) would depend on how fast the server
   * answers.
   */
  waits(event: KeyboardEvent): boolean {
    const plain = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!plain || (event.key !== "Enter" && event.key !== "Tab")) return false;
    if (this.#mention === null || this.#closed || !this.#given.mayWrite) return false;
    return this.list.length === 0 && this.#names.awaits(this.#mention.typed);
  }

  /** Resolves when the names are known; false if the text changed in the meantime. */
  async settled(): Promise<boolean> {
    const { text } = this.#given;
    const { caret } = this;
    await this.#names.settled();
    return this.#given.text === text && this.caret === caret;
  }

  /** The effect of a key while the list is open: true if the list used it, the offer that it chose, or false. */
  key(event: KeyboardEvent): Offer | boolean {
    const offer = this.list[this.chosen];
    if (!offer) return false;
    const count = this.list.length;
    const plain = !event.shiftKey && !event.ctrlKey && !event.metaKey;
    if (event.key === "ArrowDown") this.chosen = (this.chosen + 1) % count;
    else if (event.key === "ArrowUp") this.chosen = (this.chosen - 1 + count) % count;
    else if (event.key === "Escape") this.close();
    else if (event.key === "Tab" && plain) return offer;
    else if (event.key === "Enter" && plain && !this.#isWritten(offer)) return offer;
    else return false;
    return true;
  }

  /** Whether the text already is the whole offer, so that Enter can only mean sending. */
  #isWritten(offer: Offer): boolean {
    return this.#given.text.slice(0, this.caret).endsWith(offer.text);
  }
}
