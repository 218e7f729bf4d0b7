/** The choices of a request that affect more than this call, ready to show. Pure. */
import { mayAs } from "../../../core/roles.ts";
import type { Choice as OfferedChoice } from "../../../protocol/pending.ts";

/** A part of a sentence: text, or a literal command. */
export interface Piece {
  readonly text: string;
  readonly code: boolean;
  /** A word that is emphasized: "may ask". */
  readonly strong?: boolean;
}

export interface Lasting {
  /** Its number in the answer. */
  readonly index: number;
  /** What it does, as a sentence. */
  readonly label: string;
  /** The rule, mode or folder itself. */
  readonly subject: string;
  /** What it covers, and which earlier calls it would have covered; may be empty. */
  readonly covers: readonly Piece[];
  /** How long it lasts, or where it is saved. */
  readonly place: string;
  /** Whether it covers more than calls like this one. */
  readonly wide: boolean;
  /** Whether it needs a second confirmation: it is wide, or outlasts the session. */
  readonly heavy: boolean;
  /** Why this device may not choose it; empty if it may. */
  readonly forbidden: string;
}

/** The choices of a request, by where they are shown. */
export interface Choices {
  /** "Allow for this session": the narrowest rule. */
  readonly session: Lasting | null;
  /** "Accept all edits". */
  readonly edits: Lasting | null;
  /** All others, behind "Always allow…". */
  readonly more: readonly Lasting[];
  /** The rules behind "Always deny…". */
  readonly deny: readonly Lasting[];
}

const PLACES: Readonly<Record<string, string>> = {
  session: "until this session ends",
  localSettings: "saved to .claude/settings.local.json (only you)",
  projectSettings: "saved to .claude/settings.json (shared with the team)",
  userSettings: "saved to your ~/.claude/settings.json",
};

/** How long a denied rule lasts. */
const DENIED_PLACE = "denied without asking for the rest of this session, including open requests";

const WHERE: Readonly<Record<string, string>> = {
  session: "in this session",
  localSettings: "in this project (local settings)",
  projectSettings: "in this project (shared settings)",
  userSettings: "in all projects",
};

/**
 * The choices of a request for a device with this role. An ask rule of the user outranks every allow
 * rule: if one `asks`, a lasting approval would change nothing, and none is offered.
 */
export function choicesOf(offered: readonly OfferedChoice[], role: string, asks = false): Choices {
  if (asks) return { session: null, edits: null, more: [], deny: choicesOf(offered, role).deny };
  const usable = (choice: OfferedChoice): boolean => mayAs(role, choice.role);
  const session = offered.find((choice) => choice.kind === "rule" && choice.scope === "session" && !choice.wide && usable(choice));
  const edits = offered.find((choice) => choice.kind === "mode" && choice.subject === "acceptEdits" && usable(choice));
  return {
    session: session ? lasting(session, role) : null,
    edits: edits ? lasting(edits, role) : null,
    more: offered.filter((choice) => choice !== session && choice !== edits).map((choice) => lasting(choice, role)),
    deny: offered
      .filter((choice) => choice.deniable && choice.scope === "session" && usable(choice))
      .map((choice) => ({
        ...lasting({ ...choice, may_ask: "" }, role),
        label: `Deny ${calls(choice)} in this session`,
        place: DENIED_PLACE,
        heavy: false,
      })),
  };
}

function lasting(choice: OfferedChoice, role: string): Lasting {
  return {
    index: choice.index,
    label: sentence(choice),
    subject: choice.subject,
    covers: covers(choice),
    place: PLACES[choice.scope] ?? choice.scope,
    wide: choice.wide,
    heavy: choice.wide || choice.scope !== "session",
    forbidden: mayAs(role, choice.role) ? "" : `needs the ${choice.role} role`,
  };
}

function sentence(choice: OfferedChoice): string {
  const where = WHERE[choice.scope] ?? choice.scope;
  if (choice.kind === "mode") {
    return choice.subject === "acceptEdits" ? `Accept all edits ${where}` : `Switch to the mode ${choice.subject} ${where}`;
  }
  if (choice.kind === "folder") return `Allow access to ${choice.subject} ${where}`;
  return `Don't ask again for ${calls(choice)} ${where}`;
}

/** The calls that a rule covers, in few words: `git commit …`. */
function calls(choice: OfferedChoice): string {
  if (choice.wide) return `any use of ${choice.subject}`;
  const commands = choice.subject.split(/, (?=Bash\()/).map((rule) => /^Bash\(([\s\S]*)\)$/.exec(rule)?.[1]);
  if (commands.every((command) => command !== undefined)) {
    return commands.map((command) => command?.replace(/(:\*| \*)$/, " …")).join(", ");
  }
  return choice.subject;
}

/** The choice was made, and whether the CLI still asks cannot be predicted. */
const MAY_ASK: Piece = { text: "may ask", code: false, strong: true };

function covers(choice: OfferedChoice): readonly Piece[] {
  const earlier = choice.examples.map((text) => [{ text, code: true }]);
  return joined(
    [
      choice.lets_through ? spans(choice.lets_through) : [],
      choice.wide && !choice.lets_through ? [words("Every use, with any input")] : [],
      earlier.length ? [words("earlier in this session: "), ...joined(earlier, ", ")] : [],
      choice.may_ask ? [MAY_ASK, words(` about this call again: ${choice.may_ask}`)] : [],
    ].filter((part) => part.length > 0),
    "; ",
  );
}

/** The server's sentence, in which a command is between backticks (`permissions/choices.py`). */
const COMMAND = /(?<=\b(?:starting with|of the form|exact command:) )`([^`]+)`(?=$|; )/g;

/** Split only if every backtick belongs to the sentence: a backtick of the command must not vanish. */
function spans(text: string): readonly Piece[] {
  const commands = [...text.matchAll(COMMAND)];
  if (text.split("`").length - 1 !== 2 * commands.length) return [words(text)];
  const pieces: Piece[] = [];
  let last = 0;
  for (const { 0: whole, 1: command = "", index } of commands) {
    pieces.push(words(text.slice(last, index)), { text: command, code: true });
    last = index + whole.length;
  }
  return [...pieces, words(text.slice(last))].filter((piece) => piece.text !== "");
}

function words(text: string): Piece {
  return { text, code: false };
}

function joined(parts: readonly (readonly Piece[])[], between: string): readonly Piece[] {
  return parts.flatMap((part, at) => (at === 0 ? part : [words(between), ...part]));
}
