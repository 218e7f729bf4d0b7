/**
 * What a tool card is. The transcript draws the frame (icon, name, target, outcome, the button that
 * opens it, the boundary that catches errors); a card only has the texts and the body.
 */
import type { Component } from "svelte";
import type { Item, Task, ToolItem } from "../../../protocol/transcript.ts";
import type { SendIntent } from "../../../core/connection/client.ts";
import type { IconName } from "../../parts/icons.ts";

/** A word or figure at the end of the line, such as `84 lines` or `+2`. */
export interface Outcome {
  readonly text: string;
  readonly tone: "plain" | "ok" | "bad" | "run" | "accent";
}

/** What the body of a card is given. It never changes the model: it shows, and sends intents. */
export interface ToolBodyProps {
  readonly item: ToolItem;
  /** The session's folder; paths below it are shown relative to it. */
  readonly cwd: string | null;
  /** The steps of the subagent that this call started; empty for other tools. */
  readonly children: readonly Item[];
  /** The server's id of the session. */
  readonly session: string;
  readonly send: SendIntent;
}

export interface ToolCard {
  readonly icon: IconName;
  /** The display name of the tool; without it the item's own title is used. */
  readonly label?: (item: ToolItem) => string;
  /** The subject of the call in one line: a path, a command, a question. `tasks` returns the model's list. */
  readonly target: (item: ToolItem, cwd: string | null, tasks: () => readonly Task[]) => string;
  /**
   * Whether the target is prose. By default it is code: set in the fixed-width font, with
   * whatever could hide in it made visible.
   */
  readonly plainTarget?: boolean;
  /** The outcome in a word or two; the frame adds the time and the state. */
  readonly outcome: (item: ToolItem) => readonly Outcome[];
  /** The label of a denied call; "denied" without it. */
  readonly denied?: string;
  /** Whether the card is open before the user opens or closes it. */
  readonly opens: (item: ToolItem) => boolean;
  readonly body: Component<ToolBodyProps>;
}
