/**
 * A session that is played back: the states of its transcript after each frame, and where to go from
 * one of them. The frames are the reducer's own changes; states share what did not change. Pure.
 */
import type { Change } from "../../protocol/changes.ts";
import { apply, type Sections } from "../connection/apply.ts";

export type FrameKind = "message" | "approval" | "turn" | "part";

export interface Frame {
  readonly seq: number;
  readonly at: number;
  readonly kind: FrameKind;
  readonly changes: readonly Change[];
}

export interface FramesAnswer {
  readonly snapshot?: Sections;
  readonly frames: readonly Frame[];
  readonly last: number;
  readonly done: boolean;
}

/** All states so far; the one at 0 is before the first frame. */
export interface Film {
  readonly frames: readonly Frame[];
  readonly states: readonly Sections[];
  readonly last: number;
  readonly done: boolean;
}

export const NO_FILM: Film = { frames: [], states: [], last: 0, done: false };

/** The film with a further page of frames. */
export function extended(film: Film, answer: FramesAnswer): Film {
  const states = film.states.length > 0 ? [...film.states] : [answer.snapshot ?? {}];
  for (const frame of answer.frames) states.push(apply(states.at(-1) ?? {}, frame.changes));
  return { frames: [...film.frames, ...answer.frames], states, last: answer.last, done: answer.done };
}

/**
 * The next position in a direction at which something of these kinds ends or begins; the start or
 * the end if there is none. A position is complete: it is the one before the next thing begins.
 */
export function stepped(film: Film, from: number, by: 1 | -1, kinds: readonly FrameKind[]): number {
  const end = film.frames.length;
  for (let at = from + by; at > 0 && at < end; at += by) {
    const next = film.frames[at];
    if (next && kinds.includes(next.kind)) return at;
  }
  return by > 0 ? end : 0;
}

/** The position right after the next request for approval began; null if there is none. */
export function nextApproval(film: Film, from: number): number | null {
  for (let at = from; at < film.frames.length; at += 1) if (film.frames[at]?.kind === "approval" && at + 1 > from) return at + 1;
  return null;
}

/** How long to wait before the next frame, in seconds at normal speed; long pauses are shortened. */
export function pauseAfter(film: Film, at: number, most: number): number {
  const now = film.frames[at - 1]?.at ?? film.frames[at]?.at ?? 0;
  const next = film.frames[at]?.at ?? now;
  return Math.min(most, Math.max(0, next - now));
}
