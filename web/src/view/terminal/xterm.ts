/**
 * xterm.js with everything turned off that a program could use outside of the terminal: the title of
 * the page, the clipboard, links, and the size of the window.
 */
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import type { Drawing } from "../../core/workbench/terminal.ts";
import { terminalColors } from "./colors.ts";

/** Titles, links and the clipboard; the others are unknown to xterm.js, which ignores them. */
const REFUSED_OSC = [0, 1, 2, 8, 52] as const;

const LINES = 5_000;

export interface Screen {
  readonly terminal: Terminal;
  readonly drawing: Drawing;
  /** Fit the terminal to its element. */
  fit(): void;
}

/** A terminal in an element; `leave` is called for the key that leaves it. */
export async function openScreen(node: HTMLElement, dark: boolean, leave: () => void): Promise<Screen> {
  const style = getComputedStyle(document.documentElement);
  const fontFamily = style.getPropertyValue("--mono").trim();
  const fontSize = Number.parseFloat(style.getPropertyValue("--t-s")) || 13;
  await document.fonts.load(`${fontSize}px ${fontFamily}`); // Cells are measured once.
  const terminal = new Terminal({
    fontFamily,
    fontSize,
    lineHeight: 1.25,
    scrollback: LINES,
    cursorBlink: !matchMedia("(prefers-reduced-motion: reduce)").matches,
    minimumContrastRatio: 4.5,
    screenReaderMode: true,
    linkHandler: { activate: () => undefined },
    theme: terminalColors(dark),
  });
  for (const code of REFUSED_OSC) terminal.parser.registerOscHandler(code, () => true);
  const fitting = new FitAddon();
  terminal.loadAddon(fitting);
  terminal.attachCustomKeyEventHandler((event) => {
    if (event.key === "F6" && event.shiftKey) {
      if (event.type === "keydown") leave();
      event.preventDefault();
      return false;
    }
    // With a selection it copies, as elsewhere; without one it interrupts.
    return !(event.key === "c" && (event.ctrlKey || event.metaKey) && terminal.hasSelection());
  });
  terminal.open(node);
  const drawing: Drawing = {
    write: (bytes, drawn) => terminal.write(bytes, drawn),
    restart: (lost) => {
      terminal.reset();
      terminal.write(`\x1b[2m[${lost.toLocaleString("en")} bytes of earlier output are no longer stored]\x1b[0m\r\n`);
    },
  };
  return { terminal, drawing, fit: () => fitting.fit() };
}
