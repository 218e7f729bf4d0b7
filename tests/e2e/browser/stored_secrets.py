"""Reads everything that a page could store a secret in."""

from __future__ import annotations

__all__ = ["STORED"]


STORED = """
async () => {
  const databases = await indexedDB.databases();
  const opened = (name) => new Promise((done) => (indexedDB.open(name).onsuccess = (e) => done(e.target.result)));
  const all = (store) => new Promise((done) => (store.getAll().onsuccess = (e) => done(e.target.result)));
  const kept = [];
  for (const { name } of databases) {
    const database = await opened(name);
    for (const store of database.objectStoreNames) kept.push(...await all(database.transaction(store).objectStore(store)));
    database.close();
  }
  const keys = kept.map((one) => one.key).filter((one) => one instanceof CryptoKey);
  const read = await Promise.allSettled(keys.map((key) => crypto.subtle.exportKey("raw", key)));
  return {
    texts: JSON.stringify([{ ...localStorage }, { ...sessionStorage }, kept]),
    keys: keys.length,
    read: read.filter((one) => one.status === "fulfilled").length,
  };
}
"""
"""What a script of the app's origin can read of the login."""
