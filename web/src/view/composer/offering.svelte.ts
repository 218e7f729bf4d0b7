/** What is offered for the word at the caret: commands after a slash, files and resources after an @. */
import { slashCommands, slashWord } from "../../core/matching.ts";
import type { App } from "../app.svelte.ts";
import { commandOffers, knownResources, mentionAt, nameOffers, type Offer, resourceOffers, withMention } from "./mentions.ts";
import { NameSearch } from "./names.svelte.ts";

/** What is written, and what is known; read anew whenever it changes. */
export interface Given {
  readonly text: string;
  readonly commands: readonly unknown[];
  readonly mayWrite: boolean;
}

export class Offering {
  caret = $state(0);
  chosen = $state(0);
  #closed = $state(false);
  readonly #app: App;
  readonly #session: string;
  readonly #given: Given;
  readonly #names: NameSearch;

  /** While a component is made: it looks for names as long as that lives. */
  constructor(app: App, session: string, given: Given) {
    this.#app = app;
    this.#session = session;
    this.#given = given;
    this.#names = new NameSearch(app, session);
    $effect(() => {
      const looking = this.#mention && !this.#closed && this.#given.mayWrite;
      this.#names.look(looking ? (this.#mention?.letters ?? null) : null);
    });
  }

  readonly #known = $derived.by(() => slashCommands(this.#given.commands));
  readonly #word = $derived.by(() => slashWord(this.#given.text, this.caret));
  readonly #mention = $derived.by(() => (this.#word === null ? mentionAt(this.#given.text, this.caret) : null));
  readonly #resources = $derived.by(() =>
    this.#mention ? knownResources(this.#app.transcript(this.#session)?.items ?? []) : [],
  );

  /** The lines of the list; none if it is closed. */
  readonly list = $derived.by<readonly Offer[]>(() => {
    if (this.#closed) return [];
    if (this.#word !== null) return commandOffers(this.#word, this.#known);
    if (this.#mention === null) return [];
    return [...resourceOffers(this.#mention.letters, this.#resources), ...nameOffers(this.#names.found)];
  });
  readonly label = $derived(this.#word === null ? "Files and resources" : "Commands");
  readonly note = $derived.by(() =>
    this.#word === null && this.#names.partial ? "A large folder: not all of its files were looked at." : "",
  );

  /** Something was written: the list opens again, at its first line. */
  reopen(caret: number): void {
    this.caret = caret;
    this.chosen = 0;
    this.#closed = false;
  }

  close(): void {
    this.#closed = true;
  }

  /** The caret is somewhere, perhaps where it was. */
  moved(caret: number): void {
    if (this.caret !== caret) this.chosen = 0;
    this.caret = caret;
  }

  /** The text with an offer taken, and where the caret is then. */
  taken(offer: Offer): { readonly text: string; readonly caret: number } {
    const { text } = this.#given;
    if (this.#mention !== null) return withMention(text, this.caret, this.#mention, offer);
    return { text: `${offer.text} `, caret: offer.text.length + 1 };
  }

  /** What a key means while the list is open: it was for the list, an offer was chosen by it, or neither. */
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

  /** Whether the whole of an offer stands there already, so that Enter can only mean sending. */
  #isWritten(offer: Offer): boolean {
    return this.#given.text.slice(0, this.caret).endsWith(offer.text);
  }
}
