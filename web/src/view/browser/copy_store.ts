/**
 * Documents as they were last seen, stored in the browser's database for when there is no server.
 * Without a database, or if it is full, nothing is stored and nothing fails.
 */

import { storedName } from "./base_path.ts";

/** A document at a time, which is a Unix timestamp by the server's clock. */
export interface KeptCopy {
  readonly name: string;
  readonly at: number;
  readonly state: unknown;
  readonly window: { readonly first: number; readonly total: number };
}

const DATABASE = storedName("fairlead");
const COPIES = "copies";
const MOST = 24;

/** Store a copy in place of the previous one; the oldest are deleted when there are too many. */
export async function putCopy(copy: KeptCopy): Promise<void> {
  await use("readwrite", async (copies) => {
    copies.put(copy);
    const all = (await result(copies.index("at").getAllKeys())) as string[];
    for (const name of all.slice(0, Math.max(0, all.length - MOST))) copies.delete(name);
  });
}

/** A copy, or null. */
export async function getCopy(name: string): Promise<KeptCopy | null> {
  const copy = await use("readonly", (copies) => result(copies.get(name) as IDBRequest<KeptCopy | undefined>));
  return copy ?? null;
}

/** Delete all copies. */
export async function clearCopies(): Promise<void> {
  await use("readwrite", async (copies) => void copies.clear());
}

async function use<T>(mode: IDBTransactionMode, act: (copies: IDBObjectStore) => Promise<T>): Promise<T | null> {
  try {
    const database = await open();
    try {
      const transaction = database.transaction(COPIES, mode);
      const done = new Promise<void>((resolve, reject) => {
        transaction.oncomplete = () => resolve();
        transaction.onerror = transaction.onabort = () => reject(transaction.error);
      });
      const value = await act(transaction.objectStore(COPIES));
      await done;
      return value;
    } finally {
      database.close();
    }
  } catch {
    return null;
  }
}

function open(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore(COPIES, { keyPath: "name" }).createIndex("at", "at");
  };
  return result(request);
}

function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
