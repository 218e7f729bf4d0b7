import { describe, expect, test } from "vitest";
import { allowing, decisionOf, forbidding, mayAs, type Piece } from "../../src/view/decisions/scopes.ts";

const CHOICES = [
  { index: 0, label: "Bash(ls *) (this session)", scope: "session", role: "approver", wide: false, lets_through: "every command that begins with `ls`, whatever follows", examples: [], deniable: true },
  { index: 1, label: "Bash(ls *) (this project)", scope: "localSettings", role: "owner", wide: false, lets_through: "", examples: ["ls a", "ls b"], deniable: true },
  { index: 2, label: "the mode acceptEdits (this session)", scope: "session", role: "approver", wide: true, lets_through: "", examples: [], deniable: false },
];

/** What a line says, with what is drawn as a command between angle brackets. */
const drawn = (pieces: readonly Piece[]): string => pieces.map((one) => (one.code ? `<${one.text}>` : one.text)).join("");

const through = (lets_through: string): string =>
  drawn(allowing([{ ...CHOICES[0]!, lets_through }], "owner")[0]!.through);

describe("how long an answer lasts", () => {
  test("each choice says what it lets through and where it is written", () => {
    expect(allowing(CHOICES, "owner").map((one) => [one.value, one.label, drawn(one.through), one.place])).toEqual([
      ["always:0", "Always Bash(ls *) (this session)", "lets through every command that begins with <ls>, whatever follows", "forgotten when this session ends"],
      ["always:1", "Always Bash(ls *) (this project)", "earlier in this session: <ls a>, <ls b>", "written to .claude/settings.local.json"],
      ["always:2", "The mode acceptEdits (this session)", "lets every use through, whatever it does", "forgotten when this session ends"],
    ]);
  });

  test("what stands between the backticks of a sentence is a command", () => {
    expect(through("nothing but `npm run build`, letter by letter; every command of the form `a * b`, with anything for the star")).toBe(
      "lets through nothing but <npm run build>, letter by letter; every command of the form <a * b>, with anything for the star",
    );
    expect(through("every use of Bash, whatever its input")).toBe("lets through every use of Bash, whatever its input");
  });

  test("no backtick of a command vanishes", () => {
    for (const said of ["nothing but `echo `id``, letter by letter", "every command that begins with ```, whatever follows", "reading every file below /a`b`"])
      expect(through(said)).toBe(`lets through ${said}`);
  });

  test("only a rule can be denied from now on", () => {
    expect(forbidding(CHOICES, "owner").map((one) => one.value)).toEqual(["never:0", "never:1"]);
  });

  test("what a device may not take says whose it is", () => {
    expect(allowing(CHOICES, "operator").map((one) => one.forbidden)).toEqual(["", "needs the role owner", ""]);
    expect(mayAs("viewer", "approver")).toBe(false);
    expect(mayAs("nobody", "viewer")).toBe(false);
  });

  test("a line is the decision it stands for", () => {
    expect(decisionOf("once")).toEqual({ decision: "allow", choices: [] });
    expect(decisionOf("always:3")).toEqual({ decision: "always", choices: [3] });
    expect(decisionOf("never:0")).toEqual({ decision: "never", choices: [0] });
  });
});
