// Generated from src/fairlead/server/messages.py by `python -m fairlead.server.typescript`. Do not edit.

import type { Intent } from "./intents.ts";

export const PROTOCOL = 1;

export const LOBBY = "lobby";

/** The client has applied everything up to this number. */
export interface Ack {
  readonly type: "ack";
  readonly document: string;
  readonly seq: number;
}

/** The server closes the socket on purpose; `again` says whether to come back. */
export interface Bye {
  readonly type: "bye";
  readonly reason: string;
  readonly again: boolean;
}

/** What leads from one sequence number to another; see docs/transcript.md for the operations. */
export interface Changes {
  readonly type: "changes";
  readonly document: string;
  readonly from_seq: number;
  readonly seq: number;
  readonly changes: readonly unknown[];
}

/** Follow a document no longer. */
export interface Close {
  readonly type: "close";
  readonly document: string;
}

/** Older items than the ones the client has. */
export interface Fetch {
  readonly type: "fetch";
  readonly document: string;
  readonly before: string;
  readonly count?: number;
}

/** The first message on a socket; nothing is answered before it. */
export interface Hello {
  readonly type: "hello";
  readonly protocol: number;
  readonly token: string;
  readonly client: string;
  readonly session?: string | null;
  readonly last_seq?: number | null;
  readonly epoch?: string | null;
  readonly oldest?: string | null;
}

/** What became of an intent. */
export interface IntentResult {
  readonly type: "intent_result";
  readonly n: number;
  readonly ok: boolean;
  readonly result: { readonly [key: string]: unknown };
  readonly code: string | null;
  readonly message: string | null;
}

/** Whether somebody looks at a document; one that nobody sees gets only its status. */
export interface Look {
  readonly type: "look";
  readonly document: string;
  readonly looking: boolean;
}

/** Follow a document from a sequence number on; None or a stale epoch means from a snapshot. */
export interface Open {
  readonly type: "open";
  readonly document: string;
  readonly last_seq?: number | null;
  readonly epoch?: string | null;
  readonly window?: number;
  readonly oldest?: string | null;
}

/** Older items, in order; they go before the ones the client has. */
export interface Page {
  readonly type: "page";
  readonly document: string;
  readonly before: string;
  readonly items: readonly unknown[];
  readonly window: Window;
  readonly turns: readonly unknown[];
}

/** A sign of life with the server's clock, sent when nothing else was for a while. */
export interface Pong {
  readonly type: "pong";
  readonly time: number;
}

/** Something was wrong with a message; the socket stays open unless `Bye` follows. */
export interface Problem {
  readonly type: "error";
  readonly code: string;
  readonly message: string;
  readonly document: string | null;
  readonly details: { readonly [key: string]: unknown };
}

/** Something the client wants done; acts once for each (client, n), however often it comes. */
export interface SendIntent {
  readonly type: "intent";
  readonly n: number;
  readonly intent: Intent;
}

/** The whole document at one moment, its items only from a window on. */
export interface SnapshotMessage {
  readonly type: "snapshot";
  readonly document: string;
  readonly epoch: string;
  readonly seq: number;
  readonly state: { readonly [key: string]: unknown };
  readonly window: Window;
}

/** The token was good. */
export interface Welcome {
  readonly type: "welcome";
  readonly protocol: number;
  readonly epoch: string;
  readonly device: string;
  readonly role: string;
  readonly version: string;
  readonly agent: string;
  readonly last_intent: number;
  readonly time: number;
}

/** Which part of a document's items a snapshot or a page holds. */
export interface Window {
  readonly first: number;
  readonly total: number;
}

export type FromClient =
  | Hello
  | Open
  | Close
  | Ack
  | Look
  | Fetch
  | SendIntent;

export type FromServer =
  | Welcome
  | SnapshotMessage
  | Changes
  | Page
  | IntentResult
  | Problem
  | Pong
  | Bye;
