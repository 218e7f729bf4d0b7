// Generated from src/fairlead/server/protocol/messages.py, src/fairlead/server/protocol/terminal_messages.py by `python -m fairlead.server.protocol.typescript`. Do not edit.

import type { Intent } from "./intents.ts";

export const PROTOCOL = 1;

export const LOBBY = "lobby";

export const UNAUTHENTICATED = 4401;

export const PROTOCOL_MISMATCH = 4426;

/** After a valid proof: a token for the HTTP API, valid while this socket is open. */
export interface Access {
  readonly type: "access";
  readonly token: string;
}

/** The client has applied everything up to this number. */
export interface Ack {
  readonly type: "ack";
  readonly document: string;
  readonly seq: number;
}

/** The server closes the socket on purpose; `again` tells whether to reconnect. */
export interface Bye {
  readonly type: "bye";
  readonly reason: string;
  readonly again: boolean;
}

/** The answer to `greet`: proves that the server has the device's key. */
export interface Challenge {
  readonly type: "challenge";
  readonly nonce: string;
  readonly proof: string;
}

/** The operations that lead from one sequence number to another; see docs/transcript.md. */
export interface Changes {
  readonly type: "changes";
  readonly document: string;
  readonly from_seq: number;
  readonly seq: number;
  readonly changes: readonly unknown[];
}

/** Stop following a document. */
export interface Close {
  readonly type: "close";
  readonly document: string;
}

/** Request older items than those that the client has. */
export interface Fetch {
  readonly type: "fetch";
  readonly document: string;
  readonly before: string;
  readonly count?: number;
}

/** The first message of a device with a key: asks the server to prove its identity. */
export interface Greet {
  readonly type: "greet";
  readonly protocol: number;
  readonly device: string;
  readonly nonce: string;
}

/** The first message on a socket, or the second after `greet`. Required before any other. */
export interface Hello {
  readonly type: "hello";
  readonly protocol: number;
  readonly token?: string;
  readonly proof?: string;
  readonly client: string;
  readonly session?: string | null;
  readonly last_seq?: number | null;
  readonly epoch?: string | null;
  readonly oldest?: string | null;
}

/** The result of an intent. */
export interface IntentResult {
  readonly type: "intent_result";
  readonly n: number;
  readonly ok: boolean;
  readonly result: { readonly [key: string]: unknown };
  readonly code: string | null;
  readonly message: string | null;
}

/** Whether the user views a document; a document that is not viewed gets only its status. */
export interface Look {
  readonly type: "look";
  readonly document: string;
  readonly looking: boolean;
}

/** Follow a document from a sequence number on; None or another epoch requests a snapshot. */
export interface Open {
  readonly type: "open";
  readonly document: string;
  readonly last_seq?: number | null;
  readonly epoch?: string | null;
  readonly window?: number;
  readonly oldest?: string | null;
}

/** Older items in order, to be inserted before those that the client has. */
export interface Page {
  readonly type: "page";
  readonly document: string;
  readonly before: string;
  readonly items: readonly unknown[];
  readonly window: Window;
  readonly turns: readonly unknown[];
}

/** A heartbeat with the server's clock, sent when nothing else was sent for a while. */
export interface Pong {
  readonly type: "pong";
  readonly time: number;
}

/** A message could not be processed; the socket stays open unless `Bye` follows. */
export interface Problem {
  readonly type: "error";
  readonly code: string;
  readonly message: string;
  readonly document: string | null;
  readonly details: { readonly [key: string]: unknown };
}

/** Request to get no more changes of items before one, because the client drops them. */
export interface Release {
  readonly type: "release";
  readonly document: string;
  readonly oldest: string;
}

/** The answer to `release`: no later message changes an item before `oldest`, so the client can */
export interface Released {
  readonly type: "released";
  readonly document: string;
  readonly oldest: string | null;
  readonly window: Window;
}

/** A request to do something; carried out once for each (client, n), however often it is sent. */
export interface SendIntent {
  readonly type: "intent";
  readonly n: number;
  readonly intent: Intent;
  readonly node?: string;
}

/** The whole document at one sequence number, with only the items of a window. */
export interface SnapshotMessage {
  readonly type: "snapshot";
  readonly document: string;
  readonly epoch: string;
  readonly seq: number;
  readonly state: { readonly [key: string]: unknown };
  readonly window: Window;
}

/** The client has drawn everything before this offset. */
export interface TerminalAck {
  readonly type: "terminal_ack";
  readonly terminal: string;
  readonly offset: number;
}

/** Send the stored output of a terminal from an offset on, and what follows. */
export interface TerminalAttach {
  readonly type: "terminal_attach";
  readonly terminal: string;
  readonly offset?: number;
}

/** Send no more output of a terminal; its shell keeps running. */
export interface TerminalDetach {
  readonly type: "terminal_detach";
  readonly terminal: string;
}

/** What the user typed or pasted. */
export interface TerminalInput {
  readonly type: "terminal_input";
  readonly terminal: string;
  readonly data: string;
}

/** Send the terminals of a session now and whenever they change; replaces the last such request. */
export interface TerminalList {
  readonly type: "terminal_list";
  readonly session: string;
}

/** A piece of a terminal's output. */
export interface TerminalOutput {
  readonly type: "terminal_output";
  readonly terminal: string;
  readonly offset: number;
  readonly data: string;
  readonly replay: boolean;
  readonly lost: number;
}

/** One terminal of a session. */
export interface TerminalRow {
  readonly id: string;
  readonly number: number;
  readonly ended: boolean;
  readonly code: number | null;
}

/** The size of the client's window in characters. */
export interface TerminalSize {
  readonly type: "terminal_size";
  readonly terminal: string;
  readonly cols: number;
  readonly rows: number;
}

/** The terminals of a session, the oldest first. */
export interface Terminals {
  readonly type: "terminals";
  readonly session: string;
  readonly terminals: readonly TerminalRow[];
}

/** The client is authenticated. */
export interface Welcome {
  readonly type: "welcome";
  readonly protocol: number;
  readonly device: string;
  readonly role: string;
  readonly version: string;
  readonly agent: string;
  readonly last_intent: number;
  readonly time: number;
}

/** The part of a document's items that a snapshot or a page contains. */
export interface Window {
  readonly first: number;
  readonly total: number;
}

export type FromClient =
  | Greet
  | Hello
  | Open
  | Close
  | Ack
  | Look
  | Fetch
  | Release
  | SendIntent
  | TerminalList
  | TerminalAttach
  | TerminalDetach
  | TerminalInput
  | TerminalSize
  | TerminalAck;

export type FromServer =
  | Challenge
  | Access
  | Welcome
  | SnapshotMessage
  | Changes
  | Page
  | Released
  | IntentResult
  | Problem
  | Pong
  | Bye
  | Terminals
  | TerminalOutput;
