/** Whether diffs are drawn side by side; one setting for all diffs, stored in the preferences. */
import { preferences } from "../../preferences.svelte.ts";

class DiffLayout {
  get split(): boolean {
    return preferences.diffLayout === "split";
  }

  set(split: boolean): void {
    preferences.change({ diffLayout: split ? "split" : "unified" });
  }
}

export const diffLayout = new DiffLayout();
