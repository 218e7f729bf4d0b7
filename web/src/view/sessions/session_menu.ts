/** The entries of the menu in a session's header, in groups. */
import { isForeign, isRecording } from "../../core/sessions/sessions.ts";
import type { SessionRow } from "../../protocol/lobby.ts";
import type { App } from "../app.svelte.ts";
import type { SessionPage } from "../pages/session_pages.ts";
import type { Choice } from "../parts/Menu.svelte";
import { archiveActions, deleteActions, EXPORT, moveActions } from "./session_actions.ts";

/** What the entries depend on. */
interface MenuState {
  readonly row: SessionRow | null;
  /** The pages about the files of the session. */
  readonly pages: readonly SessionPage[];
  /** Whether the agent's process runs. */
  readonly alive: boolean;
  /** Whether another program runs the session. */
  readonly elsewhere: boolean;
  /** Whether the details have no button of their own. */
  readonly narrow: boolean;
}

/** All entries; a line above the first of each group separates it from the group before. */
export function sessionMenu(app: App, state: MenuState): readonly Choice[] {
  const { row } = state;
  const foreign = row !== null && isForeign(row);
  const recording = row !== null && isRecording(row);
  const groups: readonly (readonly Choice[])[] = [
    state.narrow ? [DETAILS] : [],
    workEntries(state, foreign),
    foreign ? [] : storedEntries(app, row, recording),
    [PLAY, EXPORT],
    aboutEntries(foreign, recording),
    recording ? [] : processEntries(state),
    row && !foreign ? [...archiveActions(row), ...deleteActions(row, app.role)] : [],
  ];
  return groups.flatMap((group) => group.map((choice, at) => ({ ...choice, apart: at === 0 })));
}

const DETAILS: Choice = { value: "details", label: "Details", icon: "panel", about: "Model, mode, context, tasks, files" };
const PLAY: Choice = { value: "play", label: "Play back", icon: "clock" };
const WORKTREES: Choice = { value: "worktrees", label: "Worktrees", icon: "branch", about: "All worktrees of this repository" };

function workEntries({ pages, row }: MenuState, foreign: boolean): readonly Choice[] {
  const inRepository = Boolean(row?.branch) && !foreign;
  return [...pages.map(({ page, name, icon }) => ({ value: page, label: name, icon })), ...(inRepository ? [WORKTREES] : [])];
}

/** For a stored session, whether it runs or not. */
function storedEntries(app: App, row: SessionRow | null, recording: boolean): readonly Choice[] {
  return [
    { value: "rename", label: "Rename", icon: "edit" },
    { value: "pin", label: row?.pinned ? "Unpin" : "Pin", icon: "pin" },
    { value: "tags", label: "Tags…", icon: "tag" },
    ...(recording ? [] : [{ value: "fork", label: "Fork", icon: "branch", about: "A new session with this history" } as const]),
    ...(row ? moveActions(row, app.role, app.machines.length) : []),
  ];
}

/** Where the user reads about the session. */
function aboutEntries(foreign: boolean, recording: boolean): readonly Choice[] {
  return [
    { value: "settings", label: "Session settings", icon: "settings" },
    ...(foreign || recording ? [] : [{ value: "programs", label: "Project programs", icon: "plug", about: "Hooks, servers and permissions in its files" } as const]),
    { value: "help", label: "Commands and tools", icon: "help" },
    ...(foreign ? [] : [{ value: "log", label: "Raw log", icon: "terminal", about: "Every line from and to the CLI" } as const]),
  ];
}

function processEntries({ row, alive, elsewhere }: MenuState): readonly Choice[] {
  if (elsewhere) return [];
  if (!alive) return row?.resume_problem ? [] : [{ value: "resume", label: "Resume", icon: "restart" }];
  return [
    { value: "restart", label: "Restart", icon: "restart", about: "A new process, same conversation" },
    { value: "stop", label: "Stop process", icon: "stop", about: "The session can be resumed" },
  ];
}
