/** Files on their way into a prompt: checked, shown, sent to the server. */
import type { App } from "../app.svelte.ts";

export interface Attached {
  readonly key: number;
  readonly name: string;
  readonly size: number;
  /** An address of the picture for the preview, if it is one. */
  readonly preview: string | null;
  readonly state: "sending" | "ready" | "failed";
  readonly upload: string | null;
  readonly problem: string;
}

export const MOST_BYTES = 32 * 1024 * 1024;
export const MOST_FILES = 20;

let keys = 0;

/** A file as it is shown before it was sent. */
export function attached(file: File): Attached {
  keys += 1;
  const picture = ["image/png", "image/jpeg", "image/gif", "image/webp"].includes(file.type);
  return {
    key: keys,
    name: file.name || "pasted picture",
    size: file.size,
    preview: picture ? URL.createObjectURL(file) : null,
    state: "sending",
    upload: null,
    problem: "",
  };
}

/** Send a file; gives what became of it. */
export async function upload(app: App, file: File, shown: Attached): Promise<Attached> {
  const failed = (problem: string): Attached => ({ ...shown, state: "failed", problem });
  if (file.size > MOST_BYTES) return failed("larger than 32 MB");
  try {
    const response = await app.call("/api/uploads", { method: "POST", body: file });
    const body = (await response.json()) as { id?: string; message?: string };
    if (!response.ok || !body.id) return failed(body.message ?? "the server refused it");
    return { ...shown, state: "ready", upload: body.id };
  } catch {
    return failed("the server could not be reached");
  }
}

/** Let the browser forget a preview. */
export function forget(one: Attached): void {
  if (one.preview) URL.revokeObjectURL(one.preview);
}
