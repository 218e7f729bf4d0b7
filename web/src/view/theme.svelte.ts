/** Light, dark, or what the system says. */
import { keep } from "./browser.ts";

export type Theme = "system" | "light" | "dark";

const NAME = "fairlead.theme";
const system = matchMedia("(prefers-color-scheme: dark)");

class ThemeChoice {
  chosen = $state<Theme>(stored());

  constructor() {
    system.addEventListener("change", () => this.#show());
    this.#show();
  }

  choose(theme: Theme): void {
    this.chosen = theme;
    keep.set(NAME, theme);
    this.#show();
  }

  /** The next of the three, for one button. */
  turn(): void {
    const next: Readonly<Record<Theme, Theme>> = { system: "light", light: "dark", dark: "system" };
    this.choose(next[this.chosen]);
  }

  #show(): void {
    const dark = this.chosen === "dark" || (this.chosen === "system" && system.matches);
    document.documentElement.dataset["theme"] = dark ? "dark" : "light";
  }
}

function stored(): Theme {
  const kept = keep.get(NAME);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export const theme = new ThemeChoice();
