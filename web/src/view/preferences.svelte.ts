/**
 * The preferences of this device: read as `preferences.theme`, `preferences.sound`, …, changed by
 * `preferences.change({ sound: true })`. Kept in localStorage; another tab's change is seen here.
 */
import {
  DEFAULTS,
  readPreferences,
  type DiffLayout,
  type NewSessionDefaults,
  type Preferences,
  type TextSize,
  type Theme,
} from "../core/preferences.ts";
import { keep } from "./browser.ts";

const NAME = "fairlead.preferences";

class KeptPreferences implements Preferences {
  #now = $state.raw<Preferences>(readPreferences(keep.get(NAME)));

  constructor() {
    addEventListener("storage", (event) => {
      if (event.key === NAME || event.key === null) this.#now = readPreferences(keep.get(NAME));
    });
  }

  get theme(): Theme {
    return this.#now.theme;
  }

  get textSize(): TextSize {
    return this.#now.textSize;
  }

  get diffLayout(): DiffLayout {
    return this.#now.diffLayout;
  }

  get enterSends(): boolean {
    return this.#now.enterSends;
  }

  get notify(): boolean {
    return this.#now.notify;
  }

  get sound(): boolean {
    return this.#now.sound;
  }

  get keys(): Readonly<Record<string, string>> {
    return this.#now.keys;
  }

  get newSession(): NewSessionDefaults {
    return this.#now.newSession;
  }

  /** Whether nothing was ever changed. */
  get untouched(): boolean {
    return JSON.stringify(this.#now) === JSON.stringify(DEFAULTS);
  }

  change(part: Partial<Preferences>): void {
    this.#now = { ...this.#now, ...part };
    keep.set(NAME, JSON.stringify(this.#now));
  }

  /** Everything as it came. */
  reset(): void {
    this.#now = DEFAULTS;
    keep.remove(NAME);
  }
}

export const preferences = new KeptPreferences();
