/**
 * The preferences of this device: read as `preferences.theme`, `preferences.sound`, …, changed by
 * `preferences.change({ sound: true })`. Stored in localStorage; changes of other tabs are applied.
 */
import {
  DEFAULTS,
  readPreferences,
  type DiffLayout,
  type NewSessionDefaults,
  type Preferences,
  type SidebarGrouping,
  type TextSize,
  type Theme,
} from "../core/settings/preferences.ts";
import { storedName } from "./browser/base_path.ts";
import { keep } from "./browser/browser.ts";

const NAME = "fairlead.preferences";

class StoredPreferences implements Preferences {
  #now = $state.raw<Preferences>(readPreferences(keep.get(NAME)));

  constructor() {
    addEventListener("storage", (event) => {
      if (event.key === storedName(NAME) || event.key === null) this.#now = readPreferences(keep.get(NAME));
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

  get grouping(): SidebarGrouping {
    return this.#now.grouping;
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

  get singleKeys(): boolean {
    return this.#now.singleKeys;
  }

  get newSession(): NewSessionDefaults {
    return this.#now.newSession;
  }

  get editorUrl(): string {
    return this.#now.editorUrl;
  }

  /** Whether all preferences have their default values. */
  get untouched(): boolean {
    return JSON.stringify(this.#now) === JSON.stringify(DEFAULTS);
  }

  change(part: Partial<Preferences>): void {
    this.#now = { ...this.#now, ...part };
    keep.set(NAME, JSON.stringify(this.#now));
  }

  /** Restore the defaults. */
  reset(): void {
    this.#now = DEFAULTS;
    keep.remove(NAME);
  }
}

export const preferences = new StoredPreferences();
