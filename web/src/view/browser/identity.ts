/**
 * The identity of this page: the key of the device, and a client id that no other open tab has. A tab
 * takes over the id of a closed tab, and with it the intents that were not answered.
 */
import { below } from "./base_path.ts";
import { keep, uuid } from "./browser.ts";
import { clearCopies } from "./copy_store.ts";
import type { DeviceKey } from "../../core/connection/login.ts";
import { canHaveKey, forgetKey, keepKey, storedKey } from "./device_key.ts";

const TOKEN = "fairlead.token";
const ROLE = "fairlead.role";
const CLIENTS = "fairlead.clients";
const TAB = "fairlead.client";

interface Paired {
  readonly token?: string;
  readonly key?: string;
  readonly device: string;
  readonly role: string;
}

/** The credential of this device. */
export type Stored = { readonly key: DeviceKey } | { readonly token: string };

/** The credential of this device, if it was paired; `old` if it was a token that is no longer sent. */
export async function storedLogin(): Promise<Stored | "old" | null> {
  const key = await storedKey();
  const token = keep.get(TOKEN);
  if (!canHaveKey()) return token === null ? null : { token };
  // Any program that listens at the server's address would get a token, so it is never sent.
  keep.remove(TOKEN);
  return key !== null ? { key } : token === null ? null : "old";
}

/** This device is no longer paired: delete its credential, and its copies of documents. */
export async function forgetLogin(): Promise<void> {
  keep.remove(TOKEN);
  keep.remove(ROLE);
  await Promise.all([forgetKey(), clearCopies()]);
}

/** The last known role of this device, used while there is no connection. */
export function storedRole(): string {
  return keep.get(ROLE) ?? "viewer";
}

export function keepRole(role: string): void {
  if (keep.get(ROLE) !== role) keep.set(ROLE, role);
}

/** The one-time code in the address, which is removed from the address at once. */
export function codeFromAddress(): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code !== null) history.replaceState(null, "", location.pathname + location.search);
  return code;
}

/** The code in a pasted text: a whole link, or the code itself. */
export function codeFromText(text: string): string {
  const match = /[#?&]code=([^&\s]+)/.exec(text);
  return decodeURIComponent(match?.[1] ?? text.trim());
}

/** The server's response while this device waits for an owner to confirm it. */
interface PendingPairing {
  readonly token: string;
  readonly number: string;
}

const PENDING = 202;
const LOOK_EVERY_MS = 1_000;

/**
 * Exchange a code for a key and store it; throws an error with a message for the user if the code is
 * refused. A code of another device needs an owner's confirmation: `wait` is called with the number
 * that both screens show.
 */
export async function pair(code: string, wait: (number: string) => void): Promise<void> {
  const keyed = canHaveKey();
  let response = await request({ code, name: deviceName(), keyed });
  while (response.status === PENDING) {
    const { token, number } = (await response.json()) as PendingPairing;
    wait(number);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    response = await request({ token, keyed });
  }
  const body = (await response.json()) as Paired & { message?: string };
  if (!response.ok) throw new Error(body.message ?? "the server refused the code");
  await clearCopies(); // They may belong to another server or another role.
  keepRole(body.role); // The first page is drawn before the connection names it again.
  if (body.key !== undefined) await keepKey(body.device, body.key);
  else if (body.token !== undefined) keep.set(TOKEN, body.token);
}

function request(body: object): Promise<Response> {
  return fetch(below("/api/pair"), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** A client id that no other tab uses while this tab is open. */
export async function claimClient(): Promise<string> {
  if (!("locks" in navigator)) return tabClient(); // Plain http of another machine.
  const known = (keep.get(CLIENTS) ?? "").split(" ").filter(Boolean);
  for (const client of known) if (await claim(client)) return client;
  const fresh = uuid();
  await claim(fresh);
  keep.set(CLIENTS, [...known, fresh].slice(-50).join(" "));
  return fresh;
}

function claim(client: string): Promise<boolean> {
  return new Promise((resolve) => {
    const held = (lock: Lock | null): Promise<void> | undefined => {
      resolve(lock !== null);
      return lock === null ? undefined : new Promise(() => {}); // Until the tab is closed.
    };
    void navigator.locks.request(`fairlead.client.${client}`, { ifAvailable: true }, held);
  });
}

function tabClient(): string {
  const known = sessionStorage.getItem(TAB);
  if (known !== null) return known;
  const fresh = uuid();
  sessionStorage.setItem(TAB, fresh);
  return fresh;
}

function deviceName(): string {
  const agent = navigator.userAgent;
  const browser = /Firefox|Edg|Chrome|Safari/.exec(agent)?.[0] ?? "Browser";
  const system = /Android|iPhone|iPad|Mac OS|Windows|Linux/.exec(agent)?.[0] ?? "";
  return [browser.replace("Edg", "Edge"), system].filter(Boolean).join(" on ");
}
