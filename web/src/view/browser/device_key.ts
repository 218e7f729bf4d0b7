/**
 * The key of this device, in the browser's database. No script can read it, not even one that
 * another program served from the server's address: the browser only signs with it.
 */
import { storedName } from "./base_path.ts";
import type { DeviceKey } from "../../core/connection/login.ts";

interface StoredKey {
  readonly device: string;
  readonly key: CryptoKey;
}

const DATABASE = storedName("fairlead-login");
const STORE = "keys";
const OWN = "mine";
const HMAC = { name: "HMAC", hash: "SHA-256" } as const;

/** Whether this page may have a key: browsers allow none on plain http of other machines. */
export function canHaveKey(): boolean {
  return typeof crypto.subtle !== "undefined" && typeof indexedDB !== "undefined";
}

/** Store the key that the server issued, in place of the previous one. */
export async function keepKey(device: string, base64: string): Promise<void> {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const key = await crypto.subtle.importKey("raw", bytes, HMAC, false, ["sign"]);
  bytes.fill(0);
  await use("readwrite", (store) => store.put({ device, key } satisfies StoredKey, OWN));
}

export async function storedKey(): Promise<DeviceKey | null> {
  if (!canHaveKey()) return null;
  const stored = await use("readonly", (store) => store.get(OWN) as IDBRequest<StoredKey | undefined>).catch(() => undefined);
  return stored === undefined ? null : { device: stored.device, sign: (text) => sign(stored.key, text) };
}

export async function forgetKey(): Promise<void> {
  if (canHaveKey()) await use("readwrite", (store) => store.delete(OWN)).catch(() => undefined);
}

async function sign(key: CryptoKey, text: string): Promise<string> {
  const bytes = await crypto.subtle.sign(HMAC.name, key, new TextEncoder().encode(text));
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function use<T>(mode: IDBTransactionMode, act: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const database = await new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => void request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = request.onblocked = () => reject(request.error);
  });
  try {
    return await new Promise<T>((resolve, reject) => {
      const transaction = database.transaction(STORE, mode);
      const request = act(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onerror = transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
}
