/**
 * Makes a group of controls one Tab stop, as a toolbar is. The arrow keys, Home and End move inside
 * it, and Tab comes back to the control that had the focus last.
 */

const CONTROLS = "a[href], button:not(:disabled)";

/** For `{@attach}`: `rows` selects the controls that Up and Down move between, without it all of them. */
export function oneTabStop(rows?: string): (group: HTMLElement) => () => void {
  return (group) => {
    let stop: HTMLElement | null = null;

    /** The controls, without those in the menus that they open. */
    function controls(): readonly HTMLElement[] {
      return [...group.querySelectorAll<HTMLElement>(CONTROLS)].filter((control) => control.closest("[popover]") === null);
    }

    function refresh(): void {
      const all = controls();
      const current = group.querySelector<HTMLElement>("[aria-current]");
      const inside = group.contains(document.activeElement);
      if (current !== null && !inside) stop = current;
      else if (stop === null || !all.includes(stop) || !isShown(stop)) stop = current ?? all.find(isShown) ?? null;
      for (const control of all) control.tabIndex = control === stop ? 0 : -1;
    }

    function entered(event: FocusEvent): void {
      const control = controls().find((control) => control.contains(event.target as Node));
      if (!control) return;
      stop = control;
      refresh();
    }

    function pressed(event: KeyboardEvent): void {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
      const shown = controls().filter(isShown);
      const at = shown.indexOf(event.target as HTMLElement);
      const next = at < 0 ? undefined : targetOf(event.key, shown, at, rows);
      if (!next) return;
      event.preventDefault();
      next.focus();
    }

    const changes = new MutationObserver(refresh);
    changes.observe(group, { childList: true, subtree: true, attributes: true, attributeFilter: ["aria-current", "disabled"] });
    const sizes = new ResizeObserver(refresh); // Another width shows other controls.
    sizes.observe(group);
    group.dataset["tabStop"] = "";
    group.addEventListener("focusin", entered);
    group.addEventListener("keydown", pressed);
    refresh();
    return () => {
      changes.disconnect();
      sizes.disconnect();
      group.removeEventListener("focusin", entered);
      group.removeEventListener("keydown", pressed);
    };
  };
}

function targetOf(key: string, all: readonly HTMLElement[], at: number, rows = "*"): HTMLElement | undefined {
  const isRow = (control: HTMLElement): boolean => control.matches(rows);
  if (key === "ArrowRight") return all[at + 1];
  if (key === "ArrowLeft") return all[at - 1];
  if (key === "ArrowDown") return all.slice(at + 1).find(isRow);
  if (key === "ArrowUp") return all.slice(0, at).findLast(isRow);
  if (key === "Home") return all.find(isRow);
  return key === "End" ? all.findLast(isRow) : undefined;
}

function isShown(control: HTMLElement): boolean {
  return control.checkVisibility({ visibilityProperty: true });
}
