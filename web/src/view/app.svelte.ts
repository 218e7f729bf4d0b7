/**
 * What the components share: what is known, where we are, what is said in passing. The core's
 * values come in whole and are replaced; nothing here changes them.
 */
import { getContext, setContext } from "svelte";
import type { Intent } from "../protocol/intents.ts";
import type { IntentResult } from "../protocol/messages.ts";
import type { Client, Known, SendIntent } from "../core/client.ts";
import type { Followed, Transcript } from "../core/documents.ts";
import type { SessionRow } from "../protocol/lobby.ts";
import type { Drafts } from "../core/drafts.ts";
import { pathOf, sessionOf, type Route } from "../core/routes.ts";
import { clock } from "./clock.svelte.ts";
import type { Copies } from "./copies.svelte.ts";
import { storedRole } from "./identity.ts";
import { LiveTranscript } from "./live.svelte.ts";

export type { Route } from "../core/routes.ts";
export { routeOf } from "../core/routes.ts";

/** A line that is shown for a few seconds. */
export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: "plain" | "bad";
}

/** What lies over the page. */
export type Overlay = "new" | "palette" | "keys" | "settings" | null;

type Source = Pick<Client, "known" | "send" | "look" | "fetchOlder" | "seek" | "hurry">;

const TOAST_MS = 6_000;

export class App {
  known = $state.raw() as Known;
  // Derived, so that what reads one part is not run anew when another part changes.
  readonly lobby = $derived(this.known.lobby);
  readonly link = $derived(this.known.link);
  readonly outbox = $derived(this.known.outbox);
  readonly missing = $derived(this.known.missing);
  readonly role = $derived(this.known.welcome?.role ?? storedRole());
  readonly sessions = $derived<readonly SessionRow[]>(this.known.lobby?.sessions ?? []);
  route = $state.raw<Route>({ page: "home" });
  toasts = $state.raw<readonly Toast[]>([]);
  overlay = $state<Overlay>(null);
  /** What is to be forked, while somebody is asked about it. */
  forking = $state.raw<{ readonly session: string; readonly at: string | null } | null>(null);
  /** A message that was refused, for the composer to show again. */
  returned = $state.raw<{ readonly session: string; readonly text: string } | null>(null);
  /** Whether the sidebar is open on a phone. */
  drawer = $state(false);
  /** Whether the panel at the right is open. */
  panel = $state(true);
  /** What can be read without a server. */
  copies: Copies | null = null;
  readonly drafts: Drafts;
  readonly #source: Source;
  readonly #token: string;
  readonly #transcripts = new Map<string, LiveTranscript>();
  #toasts = 0;

  constructor(source: Source, drafts: Drafts, token: string) {
    this.#source = source;
    this.drafts = drafts;
    this.#token = token;
    this.known = source.known;
  }


  session(id: string): SessionRow | null {
    return this.sessions.find((one) => one.id === id) ?? null;
  }

  document(id: string): Followed | null {
    return this.known.documents.get(id) ?? null;
  }

  /** The transcript of a session, the same object for as long as it is followed. */
  transcript(id: string): Transcript | null {
    if (!this.known.documents.has(id)) return null;
    const found = this.#transcripts.get(id);
    if (found) return found;
    const made = this.#follow(id);
    this.#transcripts.set(id, made);
    return made;
  }

  #follow(id: string): LiveTranscript {
    let last: Transcript;
    const read = (): Transcript => {
      // What still shows a document that was just closed shows its last state.
      const now = this.known.documents.get(id)?.state;
      if (now) last = now as unknown as Transcript;
      return last;
    };
    let made: LiveTranscript | undefined;
    // Under no component: what one makes while it runs stands still when that component is gone.
    $effect.root(() => void (made = new LiveTranscript(read, () => this.session(id))));
    return made as unknown as LiveTranscript;
  }

  take(known: Known): void {
    this.known = known;
    clock.skew = known.skew;
    for (const id of this.#transcripts.keys()) if (!known.documents.has(id)) this.#transcripts.delete(id);
  }

  /** Ask for something. */
  readonly send: SendIntent = (intent) => this.#source.send(intent);

  /** The server refused something: say so, and give back what was typed. */
  refused(intent: Intent, result: IntentResult): void {
    if (intent.kind === "keep_draft") return;
    this.say(result.message ?? "The server refused that.", "bad");
    if (intent.kind !== "send") return;
    if (!this.drafts.read(intent.session)) this.drafts.write(intent.session, intent.text);
    this.returned = { session: intent.session, text: intent.text };
  }

  fetchOlder(id: string, count?: number): boolean {
    return this.#source.fetchOlder(id, count);
  }

  /** Have an item of a session there, however old; false if there is no such item. */
  seek(id: string, item: string): Promise<boolean> {
    return this.#source.seek(id, item);
  }

  /** Follow a session's document without going there; the inbox answers what it asks. */
  peek(id: string | null): void {
    this.#source.look(id);
  }

  hurry(): void {
    this.#source.hurry();
  }

  // Where we are

  go(route: Route, replace = false): void {
    const path = pathOf(route);
    if (path !== location.pathname + location.search) {
      if (replace) history.replaceState(null, "", path);
      else history.pushState(null, "", path);
    }
    this.follow(route);
  }

  /** Be where the address says, without changing it. */
  follow(route: Route): void {
    this.route = route;
    this.drawer = false;
    this.#source.look(sessionOf(route));
  }

  // In passing

  say(text: string, tone: Toast["tone"] = "plain"): void {
    this.#toasts += 1;
    const id = this.#toasts;
    this.toasts = [...this.toasts.slice(-3), { id, text, tone }];
    setTimeout(() => this.dismiss(id), TOAST_MS);
  }

  dismiss(id: number): void {
    this.toasts = this.toasts.filter((one) => one.id !== id);
  }

  async copy(text: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.say("Copied");
    } catch {
      this.say("The browser did not allow copying", "bad");
    }
  }

  /** A call of the HTTP API with the device's token. */
  async call(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${this.#token}`);
    return fetch(path, { ...init, headers });
  }
}

const KEY = Symbol("app");

export function provideApp(app: App): void {
  setContext(KEY, app);
}

export function useApp(): App {
  return getContext<App>(KEY);
}
