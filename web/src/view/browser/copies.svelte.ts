/**
 * The copies of documents for when there is no server: read when a document is opened and not
 * available, written when a session is idle, so that nothing is written while text streams.
 */
import { shownStatus } from "../../core/sessions/status.ts";
import { keptState, shownLobby, shownState, withCopies, type Copy } from "../../core/connection/copies.ts";
import type { Known } from "../../core/connection/client.ts";
import type { Followed, Transcript } from "../../core/connection/documents.ts";
import type { Lobby } from "../../protocol/lobby.ts";
import { LOBBY } from "../../protocol/messages.ts";
import { getCopy, putCopy } from "./copy_store.ts";

const REST_MS = 3_000;
/** Not an epoch of a server, so that opening such a document always starts with a snapshot. */
const COPY_EPOCH = "copy";

export class Copies {
  /** When the shown copy of the lobby was made; null if no copy is shown. */
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
    const copy = await getCopy(LOBBY);
    if (!copy) return;
    this.#lobby = shownLobby(copy.state as Lobby);
    this.lobbyAt = copy.at;
    this.#changed();
  }

  /** The user opens a session: load its copy. */
  async want(name: string | null): Promise<void> {
    this.#looking = name;
    if (name === null || this.#copies.has(name) || this.#known?.documents.has(name)) return;
    const copy = await getCopy(name);
    if (!copy || this.#looking !== name) return;
    const { at, state, window } = copy;
    const document: Followed = {
      name, epoch: COPY_EPOCH, seq: 0, state: shownState(state as Followed["state"]), window, fetching: false,
    }; // prettier-ignore
    this.#copies.set(name, { at, document });
    this.#changed();
  }

  /** The known state, with copies of what is missing; also schedules writing copies. */
  merged(known: Known): Known {
    this.#known = known;
    if (known.link.state === "online") this.#later();
    for (const name of this.#copies.keys()) if (known.documents.has(name)) this.#copies.delete(name);
    return withCopies(known, this.#lobby, this.#copies);
  }

  /** When the shown copy of a session was made; null if it is not a copy. */
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
