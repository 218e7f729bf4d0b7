/** Whether diffs are drawn side by side; one choice for all of them, kept on this device. */

const NAME = "fairlead.diff";

class DiffLayout {
  split = $state(read());

  set(split: boolean): void {
    this.split = split;
    try {
      localStorage.setItem(NAME, split ? "split" : "unified");
    } catch {
      return; // Storage may be forbidden; the choice then lasts as long as the page.
    }
  }
}

function read(): boolean {
  try {
    return localStorage.getItem(NAME) === "split";
  } catch {
    return false;
  }
}

export const diffLayout = new DiffLayout();
