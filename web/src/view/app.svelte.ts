/**
 * The state that components share: what is known, the current route, toasts. Values of the core are
 * passed in whole and replaced; nothing here changes them.
 */
import { getContext, setContext } from "svelte";
import type { Intent } from "../protocol/intents.ts";
import type { IntentResult } from "../protocol/messages.ts";
import type { Client, Known, SendIntent } from "../core/connection/client.ts";
import type { Followed, Transcript } from "../core/connection/documents.ts";
import type { NodeRow, SessionRow } from "../protocol/lobby.ts";
import type { Drafts } from "../core/conversation/drafts.ts";
import { rememberedQuestion, trustQuestion, type TrustChoice, type TrustQuestion } from "../core/conversation/trust.ts";
import { offerOf, type ResumeOffer } from "../core/sessions/resume_offers.ts";
import { pathOf, sessionOf, type Route } from "../core/routes.ts";
import { sentence } from "../core/plain.ts";
import { below } from "./browser/base_path.ts";
import { clock } from "./browser/clock.svelte.ts";
import type { Copies } from "./browser/copies.svelte.ts";
import { storedRole } from "./browser/identity.ts";
import { LiveTranscript } from "./live.svelte.ts";

export type { Route } from "../core/routes.ts";
export { routeOf } from "../core/routes.ts";

/** A line that is shown for a few seconds. */
export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: "plain" | "bad";
  /** Something that the user can do about it, such as Undo. With `to`, it only opens this route. */
  readonly action?: { readonly label: string; readonly act: () => void; readonly to?: Route };
}

/** The overlay over the page. */
export type Overlay = "new" | "palette" | "keys" | "settings" | null;

/** A question about sessions, which a dialog asks. */
export type Asking =
  | { readonly kind: "delete"; readonly sessions: readonly string[] }
  | { readonly kind: "tags"; readonly sessions: readonly string[] }
  | { readonly kind: "export"; readonly session: string }
  | { readonly kind: "move"; readonly session: string }
  | { readonly kind: "worktrees"; readonly cwd: string }
  | { readonly kind: "finish"; readonly path: string; readonly repository: string; readonly how: "merge" | "keep" | "discard" }
  | { readonly kind: "offers"; readonly offer: ResumeOffer };

type Source = Pick<Client, "known" | "send" | "look" | "fetchOlder" | "release" | "seek" | "hurry" | "access" | "followTerminals" | "tellTerminal">;

const TOAST_MS = 6_000;

/** Intents whose refusal is shown where they were sent, if at all. */
const EXPLAINED: ReadonlySet<Intent["kind"]> = new Set(["keep_draft", "rewind_files", "worktrees", "worktree_losses", "finish_worktree", "delete_sessions", "open_terminal", "git_commit"]);

export class App {
  known = $state.raw() as Known;
  // Derived, so that what reads one part does not run again when another part changes.
  readonly lobby = $derived(this.known.lobby);
  readonly link = $derived(this.known.link);
  readonly outbox = $derived(this.known.outbox);
  readonly missing = $derived(this.known.missing);
  /** The machines of a fleet; an older copy of the lobby has none. */
  readonly machines = $derived<readonly NodeRow[]>(this.known.lobby?.nodes ?? []);
  readonly role = $derived(this.known.welcome?.role ?? storedRole());
  readonly #rows = $derived<readonly SessionRow[]>(this.known.lobby?.sessions ?? []);
  readonly sessions = $derived(this.#rows.filter((row) => !row.deleting));
  /** The sessions that are to be deleted, as long as that can be undone. */
  readonly deleting = $derived(this.#rows.filter((row) => row.deleting));
  route = $state.raw<Route>({ page: "home" });
  toasts = $state.raw<readonly Toast[]>([]);
  overlay = $state<Overlay>(null);
  /** What is to be rewound, while the user is asked about it. */
  rewinding = $state.raw<{ readonly session: string; readonly at: string | null } | null>(null);
  /** The session whose name is to be edited in its header. */
  renaming = $state<string | null>(null);
  /** What is to be forked, while the user is asked about it. */
  forking = $state.raw<{ readonly session: string; readonly at: string | null } | null>(null);
  /** What the user is asked about in a dialog of `view/order`. */
  asking = $state.raw<Asking | null>(null);
  /** A message that was refused; the composer shows it again. */
  returned = $state.raw<{ readonly session: string; readonly text: string } | null>(null);
  /** Whether the sidebar is open on a phone. */
  drawer = $state(false);
  /** Text that was typed after the palette was opened and before it was loaded. */
  typedAhead = "";
  /** Whether the panel on the right is open. */
  panel = $state(true);
  /** What the changes next to the conversation show, as the query of their page; null if they are closed. */
  beside = $state<string | null>(null);
  /** Copies of documents for reading without a server. */
  copies: Copies | null = null;
  readonly drafts: Drafts;
  readonly #source: Source;
  readonly #transcripts = new Map<string, LiveTranscript>();
  #toasts = 0;

  constructor(source: Source, drafts: Drafts) {
    this.#source = source;
    this.drafts = drafts;
    this.known = source.known;
  }


  session(id: string): SessionRow | null {
    return this.sessions.find((row) => row.id === id) ?? null;
  }

  /** The machine with a folder in which a session works; empty outside a fleet. */
  machineAt(folder: string): string {
    return this.#rows.find((row) => row.cwd === folder || row.worktree?.path === folder || row.worktree?.repository === folder)?.node ?? "";
  }

  document(id: string): Followed | null {
    return this.known.documents.get(id) ?? null;
  }

  /** The transcript of a session, the same object for as long as it is followed. */
  transcript(id: string): Transcript | null {
    if (!this.known.documents.has(id)) return null;
    const known = this.#transcripts.get(id);
    if (known) return known;
    const transcript = this.#follow(id);
    this.#transcripts.set(id, transcript);
    return transcript;
  }

  #follow(id: string): LiveTranscript {
    let last: Transcript;
    const read = (): Transcript => {
      // Components that still show a document that was just closed show its last state.
      const now = this.known.documents.get(id)?.state;
      if (now) last = now as unknown as Transcript;
      return last;
    };
    let transcript: LiveTranscript | undefined;
    // Outside any component: a derived value that a component creates stops when it is destroyed.
    $effect.root(() => void (transcript = new LiveTranscript(read, () => this.session(id))));
    return transcript as unknown as LiveTranscript;
  }

  take(known: Known): void {
    this.known = known;
    clock.skew = known.skew;
    for (const id of this.#transcripts.keys()) if (!known.documents.has(id)) this.#transcripts.delete(id);
  }

  /** Send an intent; asks the user first if the project needs a trust answer. */
  readonly send: SendIntent = async (intent, node) => {
    const result = await this.#source.send(intent, node);
    const question = trustQuestion(result);
    if (question === null) return result;
    const answered = await this.#ask(question, node);
    if (answered === null) return result;
    // The files may change again before the session starts: then the user is asked again.
    return answered.ok ? this.send(intent, node) : answered;
  };

  /** Show what a project's own files run and the stored answer, and let the user answer again. */
  async reviewPrograms(cwd: string, profile: string, node = ""): Promise<void> {
    const result = await this.#source.send({ kind: "project_programs", cwd, profile: profile || null }, node);
    const question = rememberedQuestion(result);
    if (question === null) {
      if (result.ok) this.say("No file of this project runs or allows anything by itself.");
      return;
    }
    const answered = await this.#ask(question, node);
    if (answered?.ok) this.say("Applies the next time a session starts in this folder.");
  }

  /** Ask the user; null if they cancel, otherwise the server's result for their answer. */
  async #ask(question: TrustQuestion, node = ""): Promise<IntentResult | null> {
    const choice = await new Promise<TrustChoice | null>((answer) => (this.trusting = { question, answer }));
    this.trusting = null;
    if (choice === null) return null;
    return this.#source.send({ kind: "trust_project", cwd: question.folder, digest: question.digest, choice }, node);
  }

  /** What a project's own files would run, while the user is asked about it. */
  trusting = $state<{ readonly question: TrustQuestion; readonly answer: (choice: TrustChoice | null) => void } | null>(null);

  /** The server refused an intent: show the message, and restore the typed text. */
  refused(intent: Intent, result: IntentResult): void {
    if (EXPLAINED.has(intent.kind)) return;
    const offer = offerOf(intent, result);
    if (offer !== null) this.asking = { kind: "offers", offer };
    else if (trustQuestion(result) === null) this.say(result.message ?? "The server refused that.", "bad");
    if (intent.kind !== "send") return;
    if (!this.drafts.read(intent.session)) this.drafts.write(intent.session, intent.text);
    this.returned = { session: intent.session, text: intent.text };
  }

  fetchOlder(id: string, count?: number): boolean {
    return this.#source.fetchOlder(id, count);
  }

  #keeping = 0;

  /** Keep all loaded items of sessions until the returned function is called. */
  keepItems(): () => void {
    this.#keeping += 1;
    return () => void (this.#keeping -= 1);
  }

  /** Drop the items of a session before one, unless something needs them. */
  release(id: string, oldest: string): boolean {
    return this.#keeping === 0 && this.#source.release(id, oldest);
  }

  /** Load an item of a session, however old; false if there is no such item. */
  seek(id: string, item: string): Promise<boolean> {
    return this.#source.seek(id, item);
  }

  /** Follow a session's document without opening it; the inbox answers its requests. */
  peek(id: string | null): void {
    this.#source.look(id);
  }

  hurry(): void {
    this.#source.hurry();
  }

  /** The messages about terminals, which only their page sends and gets. */
  get terminals(): Pick<Client, "followTerminals" | "tellTerminal"> {
    return this.#source;
  }

  /** Whether this device can open a terminal. */
  readonly offersTerminal = $derived(this.role === "owner" && this.known.lobby?.server.terminal === true);

  // The current route

  go(route: Route, replace = false): void {
    const path = below(pathOf(route));
    if (path !== location.pathname + location.search) {
      if (replace) history.replaceState(null, "", path);
      else history.pushState(null, "", path);
    }
    this.follow(route);
  }

  /** Show the page of an address without changing the address. */
  follow(route: Route): void {
    this.route = route;
    this.drawer = false;
    const path = pathOf(route);
    this.toasts = this.toasts.filter(({ action }) => action?.to === undefined || pathOf(action.to) !== path);
    this.#source.look(sessionOf(route));
  }

  // Toasts

  say(text: string, tone: Toast["tone"] = "plain", action?: Toast["action"]): void {
    this.#toasts += 1;
    const id = this.#toasts;
    const shown = tone === "bad" ? sentence(text) : text; // Some messages of the server are not sentences.
    this.toasts = [...this.toasts.slice(-3), { id, text: shown, tone, ...(action ? { action } : {}) }];
    setTimeout(() => this.dismiss(id), TOAST_MS);
  }

  dismiss(id: number): void {
    this.toasts = this.toasts.filter((toast) => toast.id !== id);
  }

  async copy(text: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.say("Copied");
    } catch {
      this.say("The browser blocked copying", "bad");
    }
  }

  /** A request to the HTTP API, with a token that expires with the connection. */
  async call(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${await this.#source.access()}`);
    return fetch(below(path), { ...init, headers });
  }
}

const KEY = Symbol("app");

export function provideApp(app: App): void {
  setContext(KEY, app);
}

export function useApp(): App {
  return getContext<App>(KEY);
}
