/**
 * A table that may still grow: drawn rows stay, only the last one is compared. A very long table
 * shows its beginning until the user asks for all of it, because every cell takes part in the
 * layout of every other.
 */
import type { Token, Tokens } from "marked";

type Draw = (parent: Element, tokens: readonly Token[]) => void;

interface Drawn {
  readonly head: string;
  readonly body: HTMLTableSectionElement;
  readonly rows: readonly string[];
}

const SHOWN = 200;

const drawn = new WeakMap<Element, Drawn>();
const whole = new WeakSet<Element>();

/** Draw this table into the frame. */
export function drawTable(frame: HTMLElement, token: Tokens.Table, draw: Draw): void {
  const head = keyOf(token.header) + token.align.join();
  let before = drawn.get(frame);
  if (!before || before.head !== head) before = begun(frame, token, head, draw);
  const { body } = before;
  const wanted = whole.has(frame) ? token.rows : token.rows.slice(0, SHOWN);
  const rows = wanted.map((row, at) => {
    const key = keyOf(row);
    if (before.rows[at] === key) return key;
    const old = body.rows[at];
    if (!old) body.append(drawRow(row, "td", draw));
    else if (old.cells.length === row.length) row.forEach(({ tokens }, cell) => draw(old.cells[cell] as Element, tokens));
    else old.replaceWith(drawRow(row, "td", draw));
    return key;
  });
  while (body.rows.length > rows.length) body.deleteRow(-1);
  drawn.set(frame, { head, body, rows });
  offerRest(frame, token, draw);
}

function begun(frame: HTMLElement, token: Tokens.Table, head: string, draw: Draw): Drawn {
  frame.tabIndex = 0;
  frame.setAttribute("role", "group");
  frame.setAttribute("aria-label", "Table");
  const table = document.createElement("table");
  const body = document.createElement("tbody");
  const top = document.createElement("thead");
  top.append(drawRow(token.header, "th", draw));
  table.append(top, body);
  frame.replaceChildren(table);
  return { head, body, rows: [] };
}

function drawRow(cells: readonly Tokens.TableCell[], name: "th" | "td", draw: Draw): HTMLTableRowElement {
  const line = document.createElement("tr");
  for (const { align, tokens } of cells) {
    const cell = document.createElement(name);
    cell.dir = "auto";
    if (align) cell.setAttribute("align", align);
    draw(cell, tokens);
    line.append(cell);
  }
  return line;
}

function offerRest(frame: HTMLElement, token: Tokens.Table, draw: Draw): void {
  frame.querySelector(":scope > button")?.remove();
  if (whole.has(frame) || token.rows.length <= SHOWN) return;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = `Show all ${token.rows.length.toLocaleString("en")} rows`;
  button.onclick = () => {
    whole.add(frame);
    drawTable(frame, token, draw);
  };
  frame.append(button);
}

function keyOf(cells: readonly Tokens.TableCell[]): string {
  return cells.map((cell) => cell.text).join("\0");
}
