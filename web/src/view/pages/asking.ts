/** Calls of the pages to the HTTP API: a value, or an error with a message for the user. */
import { sentence } from "../../core/plain.ts";
import type { App } from "../app.svelte.ts";

export async function ask<T>(app: App, path: string, init: RequestInit = {}): Promise<T> {
  let response: Response;
  try {
    response = await app.call(path, init);
  } catch (problem) {
    if (init.signal?.aborted) throw problem;
    throw new Error("The server is not responding. Check that it is running.");
  }
  const body = (await response.json().catch(() => ({}))) as T & { readonly message?: string };
  if (!response.ok) throw new Error(sentence(body.message ?? `the server answered ${response.status}`));
  return body;
}

/** Send an object. */
export function tell<T>(app: App, path: string, body: unknown): Promise<T> {
  return ask<T>(app, path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

export function wordsOf(problem: unknown): string {
  return problem instanceof Error ? problem.message : String(problem);
}
