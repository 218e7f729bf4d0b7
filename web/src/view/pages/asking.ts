/** Questions of the pages to the HTTP API: a value, or an error with words for a person. */
import type { App } from "../app.svelte.ts";

export async function ask<T>(app: App, path: string, init: RequestInit = {}): Promise<T> {
  let response: Response;
  try {
    response = await app.call(path, init);
  } catch (problem) {
    if (init.signal?.aborted) throw problem;
    throw new Error("The server does not answer. Is it running?");
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

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? "" : "."}`;
}
