import { expect, test } from "vitest";
import { bytesOf, endingOf, FollowedTerminal, keyText, withCtrl, type ToTerminal } from "../src/core/workbench/terminal.ts";
import type { TerminalOutput } from "../src/protocol/messages.ts";

function followed() {
  const told: ToTerminal[] = [];
  const drawn: string[] = [];
  const waiting: (() => void)[] = [];
  const terminal = new FollowedTerminal("t", (message) => told.push(message) > 0, {
    write: (bytes, done) => {
      drawn.push(Buffer.from(bytes).toString("latin1"));
      waiting.push(done);
    },
    restart: (lost) => drawn.push(`lost ${lost}`),
  });
  const finish = (): void => waiting.splice(0).forEach((done) => done());
  return { terminal, told, drawn, finish };
}

function piece(offset: number, text: string, more: Partial<TerminalOutput> = {}): TerminalOutput {
  const data = Buffer.from(text, "latin1").toString("base64");
  return { type: "terminal_output", terminal: "t", offset, data, replay: false, lost: 0, ...more };
}

test.each(["", "a", "ab", "abc", "\x00\xff\x80é", "x".repeat(1000)])("Base64 of %j is decoded to its bytes", (text) => {
  const data = Buffer.from(text, "latin1").toString("base64");
  expect(Buffer.from(bytesOf(data)).toString("latin1")).toBe(text);
});

test("a terminal attaches again where it was, and acknowledges what was drawn", () => {
  const { terminal, told, drawn, finish } = followed();
  terminal.attach();
  terminal.received(piece(0, "x".repeat(70_000)));
  expect(told).toEqual([{ type: "terminal_attach", terminal: "t", offset: 0 }]);
  finish();
  expect(told.at(-1)).toEqual({ type: "terminal_ack", terminal: "t", offset: 70_000 });
  terminal.received(piece(70_000, "small"));
  finish();
  expect(told).toHaveLength(2);
  terminal.attach();
  expect(told.at(-1)).toEqual({ type: "terminal_attach", terminal: "t", offset: 70_005 });
  terminal.received(piece(80_000, "y", { lost: 9_995 }));
  expect(drawn.slice(-2)).toEqual(["lost 9995", "y"]);
});

test("what xterm answers while old output is drawn is not typed into the shell", () => {
  const { terminal, told, finish } = followed();
  terminal.received(piece(0, "\x1b[c", { replay: true }));
  expect(terminal.type("\x1b[?1;2c")).toBe(true);
  expect(told).toEqual([]);
  finish();
  expect(terminal.type("ls\r")).toBe(true);
  expect(told).toEqual([{ type: "terminal_input", terminal: "t", data: "ls\r" }]);
  expect(terminal.type("x".repeat(300_000))).toBe(false);
});

test("the keys of the row send what a keyboard sends", () => {
  expect([keyText("Esc", false), keyText("Tab", false), keyText("Up", false), keyText("Up", true)]).toEqual(["\x1b", "\t", "\x1b[A", "\x1bOA"]);
  expect([withCtrl("c"), withCtrl("C"), withCtrl("["), withCtrl(" "), withCtrl("ab"), withCtrl("1")]).toEqual(["\x03", "\x03", "\x1b", "\x00", "ab", "1"]);
});

test("the end of a shell is told with its code or signal", () => {
  expect([endingOf(0), endingOf(7), endingOf(-9)]).toEqual(["Shell ended with code 0.", "Shell ended with code 7.", "Shell was ended by signal 9."]);
});
