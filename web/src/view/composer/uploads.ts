/**
 * Files on their way into a prompt: checked, shown, sent to the server. Those that have arrived
 * there are remembered for each session, so that neither another session nor a reload loses them.
 */
import type { Keep } from "../../core/world.ts";
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

export const MOST_FILES = 20;

const MIB = 1024 * 1024;
const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const LIMITS = { picture: 5 * MIB, other: 32 * MIB };
/** As the server has them; here only to say so before a large file was sent. */

let keys = 0;

/** A file as it is shown before it was sent. */
export function attached(file: File): Attached {
  keys += 1;
  return {
    key: keys,
    name: file.name || "pasted picture",
    size: file.size,
    preview: PICTURES.includes(file.type) ? URL.createObjectURL(file) : null,
    state: "sending",
    upload: null,
    problem: "",
  };
}

/** Why a file cannot be sent; empty if it can. */
export function tooLarge(type: string, size: number): string {
  const picture = PICTURES.includes(type);
  const most = picture ? LIMITS.picture : LIMITS.other;
  if (size <= most) return size === 0 ? "The file is empty" : "";
  return `${picture ? "An image" : "A file"} may have ${most / MIB} MB at most`;
}

/** Send a file; gives what became of it. */
export async function upload(app: App, file: File, shown: Attached): Promise<Attached> {
  const failed = (problem: string): Attached => ({ ...shown, state: "failed", problem });
  const problem = tooLarge(file.type, file.size);
  if (problem) return failed(problem);
  try {
    const response = await app.call("/api/uploads", { method: "POST", body: file });
    const body = (await response.json()) as { id?: string; message?: string };
    if (!response.ok || !body.id) return failed(capital(body.message ?? "the server refused it"));
    return { ...shown, state: "ready", upload: body.id };
  } catch {
    return failed("The server could not be reached");
  }
}

/** Let the browser forget a preview. */
export function forget(one: Attached): void {
  if (one.preview) URL.revokeObjectURL(one.preview);
}

// What waits to be sent with a session's next prompt

const held = new Map<string, readonly Attached[]>();

/** The files of a session's unsent prompt: with previews from this page, by name from one before. */
export function heldFiles(keep: Keep, session: string): readonly Attached[] {
  return held.get(session) ?? storedFiles(keep.get(fileName(session)));
}

/** Remember the files of a session's unsent prompt. */
export function holdFiles(keep: Keep, session: string, files: readonly Attached[]): void {
  held.set(session, files);
  const ready = files.filter((one) => one.state === "ready");
  if (ready.length === 0) return keep.remove(fileName(session));
  const plain = ready.map(({ name, size, upload }) => ({ name, size, upload }));
  keep.set(fileName(session), JSON.stringify(plain));
}

/** Files from a kept text; anything else than a list of them is none. */
export function storedFiles(text: string | null): readonly Attached[] {
  let kept: unknown;
  try {
    kept = JSON.parse(text ?? "[]");
  } catch {
    return [];
  }
  if (!Array.isArray(kept)) return [];
  return (kept as readonly Partial<Attached>[])
    .filter((one) => typeof one?.upload === "string" && typeof one.name === "string")
    .map((one) => {
      keys += 1;
      const { name = "", size = 0, upload = null } = one;
      return { key: keys, name, size, upload, preview: null, state: "ready", problem: "" };
    });
}

function fileName(session: string): string {
  return `fairlead.files.${session}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
