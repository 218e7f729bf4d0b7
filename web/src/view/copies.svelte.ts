/**
 * The copies of documents for when there is no server: read when one is looked at and cannot be
 * had, written when a session rests, so that nothing is written while words stream.
 */
import { shownStatus } from "../core/status.ts";
import { keptState, shownLobby, shownState, withCopies, type Copy } from "../core/copies.ts";
import type { Known } from "../core/client.ts";
import type { Followed, Transcript } from "../core/documents.ts";
import type { Lobby } from "../protocol/lobby.ts";
import { LOBBY } from "../protocol/messages.ts";
import { getCopy, putCopy } from "./copy_store.ts";

const REST_MS = 3_000;
const COPY_EPOCH = "copy";
/** No epoch of a server: opening such a document always begins with a snapshot. */

export class Copies {
  /** When what stands in for the lobby was so; null if nothing does. */
  lobbyAt = $state<number | null>(null);
  #lobby: Lobby | null = null;
  readonly #copies = new Map<string, Copy>();
  #written = new Map<string, unknown>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #known: Known | null = null;
  #looking: string | null = null;
  readonly #changed: () => void;

  /** `changed` is called when a copy was read that may have to be shown. */
  constructor(changed: () => void) {
    this.#changed = changed;
    addEventListener("pagehide", () => void this.#write());
  }

  /** Read the copy of the lobby. */
  async start(): Promise<void> {
    const found = await getCopy(LOBBY);
    if (!found) return;
    this.#lobby = shownLobby(found.state as Lobby);
    this.lobbyAt = found.at;
    this.#changed();
  }

  /** Somebody looks at a session: have its copy at hand. */
  async want(name: string | null): Promise<void> {
    this.#looking = name;
    if (name === null || this.#copies.has(name) || this.#known?.documents.has(name)) return;
    const found = await getCopy(name);
    if (!found || this.#looking !== name) return;
    const { at, state, window } = found;
    const document: Followed = {
      name, epoch: COPY_EPOCH, seq: 0, state: shownState(state as Followed["state"]), window, fetching: false,
    }; // prettier-ignore
    this.#copies.set(name, { at, document });
    this.#changed();
  }

  /** What is known, with copies where something is missing; also remembers what is to be kept. */
  merged(known: Known): Known {
    this.#known = known;
    if (known.link.state === "online") this.#later();
    for (const name of this.#copies.keys()) if (known.documents.has(name)) this.#copies.delete(name);
    return withCopies(known, this.#lobby, this.#copies);
  }

  /** When the copy of a session that is being shown was so; null if it is no copy. */
  shownAt(name: string): number | null {
    return this.#copies.get(name)?.at ?? null;
  }

  #later(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#write(), REST_MS);
  }

  async #write(): Promise<void> {
    const known = this.#known;
    if (known === null || known.link.state !== "online" || known.lobby === null) return;
    const at = Date.now() / 1000 + known.skew;
    const { lobby } = known;
    if (this.#isNew(LOBBY, lobby)) await putCopy({ name: LOBBY, at, state: lobby, window: { first: 0, total: 0 } });
    const open = this.#looking === null ? undefined : known.documents.get(this.#looking);
    if (!open) return;
    const { status } = open.state as unknown as Transcript;
    if (shownStatus(status).busy || !this.#isNew(open.name, open.state)) return;
    await putCopy({ name: open.name, at, ...keptState(open) });
  }

  #isNew(name: string, value: unknown): boolean {
    if (this.#written.get(name) === value) return false;
    this.#written.set(name, value);
    return true;
  }
}
