/**
 * What the components share: what is known, where we are, what is said in passing. The core's
 * values come in whole and are replaced; nothing here changes them.
 */
import { getContext, setContext } from "svelte";
import type { Intent, IntentResult } from "../protocol/messages.ts";
import type { Client, Known, SendIntent } from "../core/client.ts";
import type { Followed, SessionRow, Transcript } from "../core/documents.ts";
import type { Drafts } from "../core/drafts.ts";
import { clock } from "./clock.svelte.ts";

export type Route =
  | { readonly page: "home" }
  | { readonly page: "inbox" }
  | { readonly page: "session"; readonly id: string };

/** A line that is shown for a few seconds. */
export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: "plain" | "bad";
}

/** What lies over the page. */
export type Overlay = "new" | "palette" | "keys" | "settings" | null;

type Source = Pick<Client, "known" | "send" | "look" | "fetchOlder" | "hurry">;

const TOAST_MS = 6_000;

export class App {
  known = $state.raw() as Known;
  // Derived, so that what reads one part is not run anew when another part changes.
  readonly lobby = $derived(this.known.lobby);
  readonly link = $derived(this.known.link);
  readonly outbox = $derived(this.known.outbox);
  readonly missing = $derived(this.known.missing);
  readonly role = $derived(this.known.welcome?.role ?? "viewer");
  readonly sessions = $derived<readonly SessionRow[]>(this.known.lobby?.sessions ?? []);
  route = $state.raw<Route>({ page: "home" });
  toasts = $state.raw<readonly Toast[]>([]);
  overlay = $state<Overlay>(null);
  /** A message that was refused, for the composer to show again. */
  returned = $state.raw<{ readonly session: string; readonly text: string } | null>(null);
  /** Whether the sidebar is open on a phone. */
  drawer = $state(false);
  /** Whether the panel at the right is open. */
  panel = $state(true);
  readonly drafts: Drafts;
  readonly #source: Source;
  readonly #token: string;
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

  transcript(id: string): Transcript | null {
    const found = this.document(id);
    return found ? (found.state as unknown as Transcript) : null;
  }

  take(known: Known): void {
    this.known = known;
    clock.skew = known.skew;
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

  fetchOlder(id: string): boolean {
    return this.#source.fetchOlder(id);
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
    if (path !== location.pathname) {
      if (replace) history.replaceState(null, "", path);
      else history.pushState(null, "", path);
    }
    this.follow(route);
  }

  /** Be where the address says, without changing it. */
  follow(route: Route): void {
    this.route = route;
    this.drawer = false;
    this.#source.look(route.page === "session" ? route.id : null);
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

/** The route that an address means. */
export function routeOf(path: string): Route {
  const session = /^\/s\/([\w-]+)$/.exec(path);
  if (session?.[1]) return { page: "session", id: session[1] };
  return path === "/inbox" ? { page: "inbox" } : { page: "home" };
}

function pathOf(route: Route): string {
  if (route.page === "session") return `/s/${route.id}`;
  return route.page === "inbox" ? "/inbox" : "/";
}

const KEY = Symbol("app");

export function provideApp(app: App): void {
  setContext(KEY, app);
}

export function useApp(): App {
  return getContext<App>(KEY);
}
