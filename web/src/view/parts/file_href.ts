/** Addresses of the files that a conversation names. */
import { fileAddress } from "../../core/conversation/file_links.ts";
import { below, inApp } from "../browser/base_path.ts";

/** The session whose conversation the page shows or plays back; undefined on other pages, such as an exported one. */
function openSession(): string | undefined {
  return /^\/s\/([\w-]+)(?:\/play)?$/.exec(inApp(globalThis.location?.pathname ?? ""))?.[1];
}

/** Whether the page can lead to files. */
export function hasFiles(): boolean {
  return openSession() !== undefined;
}

/**
 * The address of a file of the open session; null if the page shows no conversation of this server.
 * A link with it needs `data-file`, so that `Shell` opens the file without loading the app again.
 */
export function fileHref(path: string, line = 0): string | null {
  const session = openSession();
  return session === undefined ? null : below(fileAddress(session, path, line));
}
