import { describe, expect, test } from "vitest";
import { ansiLines, withoutAnsi } from "../../src/view/tools/terminal/ansi.ts";

const first = (text: string) => ansiLines(text)[0]?.map(({ text, look }) => [text, look.fg, look.bold]);

describe("terminal text", () => {
  test("colors and weights become spans", () => {
    expect(first("\x1b[1;32mok\x1b[0m 3 \x1b[31mbad")).toEqual([["ok", "green", true], [" 3 ", null, false], ["bad", "red", false]]);
  });

  test.each([
    ["\x1b[38;5;196mx", "#ff0000"], ["\x1b[38;2;1;2;300mx", "#0102ff"], ["\x1b[38;5;9mx", "bright-red"],
    ["\x1b[38;5;244mx", "#808080"], ["\x1b[97mx", "bright-white"], ["\x1b[31m\x1b[39mx", null],
  ])("%j has the color %j", (text, color) => {
    expect(ansiLines(text)[0]?.[0]?.look.fg).toBe(color);
  });

  test("a color goes on over the end of a line", () => {
    expect(ansiLines("\x1b[33ma\nb").map((line) => line[0]?.look.fg)).toEqual(["yellow", "yellow"]);
  });

  test("what a terminal would obey is left out", () => {
    expect(withoutAnsi("\x1b]0;title\x07a\x1b[2J\x1b[Hb\x1b]8;;https://x.example\x1b\\link\x1b]8;;\x1b\\\x1bPq\x1b\\\x00\x07c\x1b")).toBe("ablinkc");
  });

  test("what was written over shows what stood there last", () => {
    expect(withoutAnsi("10 %\r50 %\r100 %\ndone\r\n")).toBe("100 %\ndone");
    expect(withoutAnsi("\x1b[31ma\x1b[0m\rb")).toBe("b");
  });

  test("a line that is only a return is kept until something is written over it", () => {
    expect(withoutAnsi("50 %\r")).toBe("50 %");
  });
});
