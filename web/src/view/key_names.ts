/** The names of keys on this machine's keyboard: on a Mac, Ctrl is ⌘ and Alt is ⌥. */
import { keysOf } from "../core/chords.ts";

const MAC = /Mac|iPhone|iPad/.test(navigator.platform);

/** The keys of a chord, one by one. */
export function keyNames(chord: string): readonly string[] {
  return keysOf(chord, MAC);
}

/** A chord as text: `Ctrl+Enter`, on a Mac `⌘Enter`. */
export function chordText(chord: string): string {
  return keyNames(chord).join(MAC ? "" : "+");
}
