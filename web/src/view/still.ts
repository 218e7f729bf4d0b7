/**
 * An app for one document that never changes: an exported file, or a session that is played back.
 * Components read it as usual; what they send is refused.
 */
import { Drafts } from "../core/conversation/drafts.ts";
import type { Known } from "../core/connection/client.ts";
import type { Followed, Transcript } from "../core/connection/documents.ts";
import type { IntentResult } from "../protocol/messages.ts";
import { memoryStore } from "../core/connection/world.ts";
import { App } from "./app.svelte.ts";
import { world } from "./browser/browser.ts";

const REFUSED = "This is a copy of a session. It can only be read.";

/** The document of a transcript that is complete. */
export function stillDocument(name: string, state: Transcript): Followed {
  const sections = state as unknown as Followed["state"];
  return { name, epoch: "still", seq: 0, state: sections, window: { first: 0, total: state.items.length }, fetching: false };
}

/** What an app with only this document knows. */
export function stillKnown(name: string, state: Transcript): Known {
  return {
    link: { state: "online" } as Known["link"],
    welcome: { type: "welcome", protocol: 1, device: "", role: "viewer", version: "", agent: "", last_intent: 0, time: 0 },
    lobby: null,
    documents: new Map([[name, stillDocument(name, state)]]),
    missing: new Map(),
    outbox: [],
    skew: 0,
  };
}

export function stillApp(name: string, state: Transcript): App {
  const refused: IntentResult = { type: "intent_result", n: 0, ok: false, code: "forbidden", message: REFUSED, result: {} };
  const source = {
    known: stillKnown(name, state),
    send: () => Promise.resolve(refused),
    look: () => {},
    fetchOlder: () => false,
    release: () => false,
    seek: () => Promise.resolve(false),
    hurry: () => {},
    followTerminals: () => {},
    tellTerminal: () => false,
    access: () => Promise.reject(new Error(REFUSED)),
  };
  return new App(source, new Drafts(memoryStore(), world, () => {}));
}
