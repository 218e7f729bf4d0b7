/**
 * Makes a list of messages one Tab stop: Tab moves through the controls of the message that has the
 * focus and then leaves the list, so that a long conversation is never in the way.
 */

const TABBABLE = 'a[href], button, input, textarea, select, summary, [tabindex="0"]';

function tabbable(root: ParentNode): readonly HTMLElement[] {
  return [...root.querySelectorAll<HTMLElement>(TABBABLE)].filter(
    (control) => !(control as HTMLButtonElement).disabled && control.tabIndex >= 0 && control.checkVisibility({ visibilityProperty: true }),
  );
}

/** Where Tab goes from `target` inside `list`; moves the focus there. False: the browser does it. */
export function tabFrom(list: HTMLElement, target: HTMLElement, back: boolean): boolean {
  const row = target.closest<HTMLElement>("[data-row]");
  const inside = row === null ? [] : tabbable(row);
  const at = inside.indexOf(target);
  const next = inside[at + (back ? -1 : 1)];
  if (row !== null && next && !(back && at < 0)) return focused(next);
  if (row !== null && back && target !== row) return focused(row);
  if (row !== null && back) return focused(list);
  const all = tabbable(document).filter((control) => control === list || !list.contains(control));
  const beyond = all[all.indexOf(list) + (back ? -1 : 1)];
  return beyond ? focused(beyond) : false;
}

function focused(node: HTMLElement): boolean {
  node.focus();
  return true;
}
