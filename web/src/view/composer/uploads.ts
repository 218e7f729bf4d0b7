/**
 * Attachments of a prompt: checked, previewed, uploaded. Uploaded files are remembered for each
 * session, so that neither a change of the session nor a reload loses them.
 */
import type { TextStore } from "../../core/connection/world.ts";
import type { App } from "../app.svelte.ts";

export interface Attached {
  readonly key: number;
  readonly name: string;
  readonly size: number;
  /** The URL of the preview, if the file is an image. */
  readonly preview: string | null;
  readonly state: "sending" | "ready" | "failed";
  readonly upload: string | null;
  readonly problem: string;
}

export const MOST_FILES = 20;

const MIB = 1024 * 1024;
const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** The limits of the server; checked here so that a large file is refused before its upload. */
const LIMITS = { picture: 5 * MIB, other: 32 * MIB };

let keys = 0;

/** A file before its upload. */
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
  return `${picture ? "Images" : "Files"} can be up to ${most / MIB} MB`;
}

/** Upload a file; returns the result. In a fleet it goes to the machine of the session at once, so that
    its prompt can be sent again through any gateway. */
export async function upload(app: App, file: File, shown: Attached, session: string): Promise<Attached> {
  const failed = (problem: string): Attached => ({ ...shown, state: "failed", problem });
  const problem = tooLarge(file.type, file.size);
  if (problem) return failed(problem);
  try {
    const to = app.session(session)?.node ? `?session=${encodeURIComponent(session)}` : "";
    const response = await app.call(`/api/uploads${to}`, { method: "POST", body: file });
    const body = (await response.json()) as { id?: string; message?: string };
    if (!response.ok || !body.id) return failed(capital(body.message ?? "the server rejected it"));
    return { ...shown, state: "ready", upload: body.id };
  } catch {
    return failed("Couldn't reach the server");
  }
}

/** Release the memory of a preview. */
export function forget(file: Attached): void {
  if (file.preview) URL.revokeObjectURL(file.preview);
}

// Attachments of a session's next prompt

const held = new Map<string, readonly Attached[]>();

/** The attachments of a session's unsent prompt: with previews if they were added on this page. */
export function heldFiles(keep: TextStore, session: string): readonly Attached[] {
  return held.get(session) ?? storedFiles(keep.get(fileName(session)));
}

/** Remember the attachments of a session's unsent prompt. */
export function holdFiles(keep: TextStore, session: string, files: readonly Attached[]): void {
  held.set(session, files);
  const ready = files.filter((file) => file.state === "ready");
  if (ready.length === 0) return keep.remove(fileName(session));
  const plain = ready.map(({ name, size, upload }) => ({ name, size, upload }));
  keep.set(fileName(session), JSON.stringify(plain));
}

/** Files from the stored text; empty if it is not a list of files. */
export function storedFiles(text: string | null): readonly Attached[] {
  let stored: unknown;
  try {
    stored = JSON.parse(text ?? "[]");
  } catch {
    return [];
  }
  if (!Array.isArray(stored)) return [];
  return (stored as readonly Partial<Attached>[])
    .filter((file) => typeof file?.upload === "string" && typeof file.name === "string")
    .map((file) => {
      keys += 1;
      const { name = "", size = 0, upload = null } = file;
      return { key: keys, name, size, upload, preview: null, state: "ready", problem: "" };
    });
}

function fileName(session: string): string {
  return `fairlead.files.${session}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
