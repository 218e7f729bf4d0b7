/** Light, dark, or the system's theme; and the text size. Stored in the preferences. */
import type { TextSize, Theme } from "../core/settings/preferences.ts";
import { preferences } from "./preferences.svelte.ts";

export type { Theme } from "../core/settings/preferences.ts";

const system = matchMedia("(prefers-color-scheme: dark)");

class ThemeChoice {
  #systemDark = $state(system.matches);

  constructor() {
    system.addEventListener("change", () => (this.#systemDark = system.matches));
    $effect.root(() => {
      $effect.pre(() => show(this.dark, preferences.textSize));
    });
    show(this.dark, preferences.textSize); // Before the first frame.
  }

  get chosen(): Theme {
    return preferences.theme;
  }

  get dark(): boolean {
    return this.chosen === "dark" || (this.chosen === "system" && this.#systemDark);
  }

  choose(theme: Theme): void {
    preferences.change({ theme });
  }

  /** Switch to the next of the three themes, for one button. */
  turn(): void {
    const next: Readonly<Record<Theme, Theme>> = { system: "light", light: "dark", dark: "system" };
    this.choose(next[this.chosen]);
  }
}

function show(dark: boolean, size: TextSize): void {
  document.documentElement.dataset["theme"] = dark ? "dark" : "light";
  document.documentElement.dataset["text"] = size;
}

export const theme = new ThemeChoice();
