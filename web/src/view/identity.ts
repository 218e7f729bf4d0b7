/**
 * Who this page is: the token of the device, and a client id that no other open tab has. A tab
 * takes over the id of one that was closed, and with it what that one had not got answered.
 */
import { keep, uuid } from "./browser.ts";
import { clearCopies } from "./copy_store.ts";

const TOKEN = "fairlead.token";
const ROLE = "fairlead.role";
const CLIENTS = "fairlead.clients";
const TAB = "fairlead.client";

export interface Paired {
  readonly token: string;
  readonly device: string;
  readonly role: string;
}

export function storedToken(): string | null {
  return keep.get(TOKEN);
}

/** This device is no longer one of the server's: what it kept to be read offline goes too. */
export function forgetToken(): void {
  keep.remove(TOKEN);
  keep.remove(ROLE);
  void clearCopies();
}

/** What this device may do, as the server said last; asked for while there is no server. */
export function storedRole(): string {
  return keep.get(ROLE) ?? "viewer";
}

export function keepRole(role: string): void {
  if (keep.get(ROLE) !== role) keep.set(ROLE, role);
}

/** The one-time code of the address, which is taken out of it at once. */
export function codeFromAddress(): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code !== null) history.replaceState(null, "", location.pathname + location.search);
  return code;
}

/** The code in what somebody pasted: a whole link, or the code itself. */
export function codeFromText(text: string): string {
  const match = /[#?&]code=([^&\s]+)/.exec(text);
  return decodeURIComponent(match?.[1] ?? text.trim());
}

/** What somebody is told who came with another device's code and has to be let in. */
interface AtTheDoor {
  readonly token: string;
  readonly number: string;
}

const AT_THE_DOOR = 202;
const LOOK_EVERY_MS = 1_000;

/**
 * Turn a code into a token, and keep it; throws with words for the person if it is refused. With
 * another device's code that takes an owner's word: `wait` is told the number both screens show.
 */
export async function pair(code: string, wait: (number: string) => void): Promise<Paired> {
  let response = await ask({ code, name: deviceName() });
  while (response.status === AT_THE_DOOR) {
    const { token, number } = (await response.json()) as AtTheDoor;
    wait(number);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    response = await ask({ token });
  }
  const body = (await response.json()) as Paired & { message?: string };
  if (!response.ok) throw new Error(body.message ?? "the server refused the code");
  await clearCopies(); // They may be another server's, or from another role.
  keep.set(TOKEN, body.token);
  return body;
}

function ask(body: object): Promise<Response> {
  return fetch("/api/pair", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** A client id that is ours alone while this tab is open. */
export async function claimClient(): Promise<string> {
  if (!("locks" in navigator)) return tabClient(); // Plain http beyond this machine.
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
