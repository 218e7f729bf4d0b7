/** The pages of one session that its header and the bar of those pages lead to. */
import { pathOf, type Route, type WorkPage } from "../../core/routes.ts";
import { isForeign, isRecording } from "../../core/sessions/sessions.ts";
import type { App } from "../app.svelte.ts";
import { below } from "../browser/base_path.ts";
import type { IconName } from "../parts/icons.ts";

/** A page about the files of a session. */
export interface SessionPage {
  readonly page: WorkPage;
  readonly name: string;
  readonly icon: IconName;
}

const CHANGES: SessionPage = { page: "changes", name: "Changes", icon: "diff" };
const GIT: SessionPage = { page: "git", name: "Git", icon: "branch" };
const FILES: SessionPage = { page: "files", name: "Files", icon: "folder" };
const TERMINAL: SessionPage = { page: "terminal", name: "Terminal", icon: "prompt" };

/** Those that this device can use; sessions of the terminal and recordings have no files here. */
export function sessionPages(app: App, session: string): readonly SessionPage[] {
  const row = app.session(session);
  if (row !== null && (isForeign(row) || isRecording(row))) return [];
  const operates = app.role === "operator" || app.role === "owner";
  return [...(operates ? [CHANGES, GIT, FILES] : []), ...(app.offersTerminal ? [TERMINAL] : [])];
}

/** The attributes of a link inside the app; a click with a modifier opens another tab as usual. */
export function linkTo(app: App, route: Route): { readonly href: string; readonly onclick: (event: MouseEvent) => void } {
  return {
    href: below(pathOf(route)),
    onclick: (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
      event.preventDefault();
      app.go(route);
    },
  };
}
