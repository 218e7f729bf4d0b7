/** The colors of a terminal, from the tokens of the app's theme. */
import type { ITheme } from "@xterm/xterm";

export function terminalColors(dark: boolean): ITheme {
  const style = getComputedStyle(document.documentElement);
  const token = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const hues = {
    red: token("bad"),
    green: token("ok"),
    yellow: token("accent"),
    blue: token("code-name"),
    magenta: token("code-keyword"),
    cyan: token("run"),
  };
  const bright = Object.fromEntries(Object.entries(hues).map(([name, color]) => [`bright${name[0]?.toUpperCase()}${name.slice(1)}`, color]));
  return {
    background: token("sunk"),
    foreground: token("ink"),
    cursor: token("accent"),
    cursorAccent: token("sunk"),
    selectionBackground: token("line2"),
    black: token(dark ? "line2" : "ink"),
    white: token(dark ? "ink2" : "ink3"),
    brightBlack: token("ink3"),
    brightWhite: token(dark ? "ink" : "ink2"),
    ...hues,
    ...bright,
  };
}
