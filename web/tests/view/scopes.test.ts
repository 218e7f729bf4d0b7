import { describe, expect, test } from "vitest";
import type { Choice } from "../../src/protocol/pending.ts";
import { choicesOf, type Lasting, type Piece } from "../../src/view/decisions/permission/scopes.ts";

const RULE: Choice = {
  index: 0, kind: "rule", subject: "Bash(ls *)", label: "Bash(ls *) (this session)", scope: "session", role: "approver",
  wide: false, lets_through: "Any command starting with `ls`", examples: [], may_ask: "", deniable: true,
}; // prettier-ignore
const SAVED: Choice = { ...RULE, index: 1, scope: "localSettings", role: "owner", lets_through: "", examples: ["ls a", "ls b"] };
const EDITS: Choice = { ...RULE, index: 2, kind: "mode", subject: "acceptEdits", wide: true, lets_through: "", deniable: false };
const WHOLE: Choice = { ...RULE, index: 3, subject: "Bash", wide: true };
const FOLDER: Choice = { ...RULE, index: 4, kind: "folder", subject: "/data", wide: true, deniable: false };
const ALL = [RULE, SAVED, EDITS, WHOLE, FOLDER];

const drawn = (pieces: readonly Piece[]): string => pieces.map((one) => (one.code ? `<${one.text}>` : one.text)).join("");
const covers = (lets_through: string): string => drawn(choicesOf([{ ...RULE, lets_through }], "owner").session?.covers ?? []);
const shown = (one: Lasting) => [one.index, one.label, one.heavy];

describe("the choices of a request", () => {
  test("the narrowest rule and the mode for edits are direct answers, the rest is a list", () => {
    const { session, edits, more } = choicesOf(ALL, "owner");
    expect(session && shown(session)).toEqual([0, "Don't ask again for ls … in this session", false]);
    expect(edits && shown(edits)).toEqual([2, "Accept all edits in this session", true]);
    expect(more.map(shown)).toEqual([
      [1, "Don't ask again for ls … in this project (local settings)", true],
      [3, "Don't ask again for any use of Bash in this session", true],
      [4, "Allow access to /data in this session", true],
    ]);
  });

  test("what is wide or outlasts the session needs a confirmation, and nothing wide is direct but for edits", () => {
    expect(choicesOf([WHOLE, FOLDER], "owner")).toMatchObject({ session: null, edits: null });
    for (const one of [...choicesOf(ALL, "owner").more, choicesOf(ALL, "owner").edits]) expect(one?.heavy).toBe(true);
  });

  test("only rules of this session can be denied", () => {
    expect(choicesOf(ALL, "owner").deny.map((one) => one.label)).toEqual([
      "Deny ls … in this session",
      "Deny any use of Bash in this session",
    ]);
  });

  test("a choice says what it covers, where it is saved, and who may take it", () => {
    expect(covers("Any command starting with `ls`")).toBe("Any command starting with <ls>");
    const [saved] = choicesOf(ALL, "operator").more;
    expect(saved && drawn(saved.covers)).toBe("earlier in this session: <ls a>, <ls b>");
    expect([saved?.place, saved?.forbidden]).toEqual(["saved to .claude/settings.local.json (only you)", "needs the owner role"]);
  });

  test("a choice that may not prevent the next question says so in a word of its own", () => {
    const unsure = { ...RULE, may_ask: "it removes files that are known only when it runs" };
    const { session, deny } = choicesOf([unsure], "owner");
    expect(drawn(session?.covers ?? [])).toBe(
      "Any command starting with <ls>; may ask about this call again: it removes files that are known only when it runs",
    );
    expect(session?.covers.filter((one) => one.strong).map((one) => one.text)).toEqual(["may ask"]);
    expect(drawn(deny[0]?.covers ?? [])).toBe("Any command starting with <ls>");
  });

  test("a backtick of the command never vanishes", () => {
    expect(covers("Only this exact command: `npm run build`; Any command of the form `a * b`")).toBe(
      "Only this exact command: <npm run build>; Any command of the form <a * b>",
    );
    for (const text of ["Only this exact command: `echo `id``", "Any command starting with ```", "Read access to /a`b`"]) {
      expect(covers(text)).toBe(text);
    }
  });

  test("several exact commands are named, and other rules stand as they are", () => {
    const label = (subject: string) => choicesOf([{ ...RULE, subject }], "owner").session?.label;
    expect(label("Bash(./tool.sh start), Bash(sleep 25)")).toBe("Don't ask again for ./tool.sh start, sleep 25 in this session");
    expect(label("Edit(//p/a.py)")).toBe("Don't ask again for Edit(//p/a.py) in this session");
  });
});
