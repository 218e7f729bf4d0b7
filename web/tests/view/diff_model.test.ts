import { describe, expect, test } from "vitest";
import {
  countLines, hunksBetween, hunksOfNew, hunksOfPatch, lineText, sideBySide,
} from "../../src/view/tools/diff/diff_model.ts"; // prettier-ignore

const drawn = (hunks: ReturnType<typeof hunksBetween>): string[] =>
  hunks.flatMap((hunk) =>
    hunk.lines.map(
      (line) =>
        `${line.before ?? ""}|${line.after ?? ""}|` +
        line.pieces.map((piece) => (piece.changed ? `[${piece.text}]` : piece.text)).join(""),
    ),
  );

const PATCH = [
  { oldStart: 41, oldLines: 3, newStart: 41, newLines: 4, lines: [" a", "-old word", "+new word", "+more", " b"] },
];

describe("the diff model", () => {
  test("lines of a patch get the numbers of both sides", () => {
    expect(drawn(hunksOfPatch(PATCH))).toEqual(["41|41|a", "42||[old] word", "|42|[new] word", "|43|more", "43|44|b"]);
  });

  test("lines that replace each other one by one have their words marked", () => {
    expect(drawn(hunksBetween("x = foo(1)\n", "x = foo(2)\n"))).toEqual(["1||x = foo([1])", "|1|x = foo([2])"]);
  });

  test("lines with nothing in common are left whole", () => {
    expect(drawn(hunksBetween("time.sleep(0.2)\n", "event = mailbox\n"))).toEqual(["1||time.sleep(0.2)", "|1|event = mailbox"]);
  });

  test("a new file is all added, an empty one nothing", () => {
    expect(countLines(hunksOfNew("a\nb\n"))).toEqual({ added: 2, removed: 0 });
    expect(hunksOfNew("")).toEqual([]);
  });

  test("only what is around a change is shown, or all of it if asked", () => {
    const before = Array.from({ length: 40 }, (_, at) => `line ${at}`).join("\n");
    const after = before.replace("line 20", "line twenty");
    expect(hunksBetween(before, after)[0]?.lines).toHaveLength(8);
    expect(hunksBetween(before, after, true)[0]?.lines).toHaveLength(41);
  });

  test("side by side, what came in place of a line stands beside it", () => {
    const [hunk] = hunksOfPatch(PATCH);
    const pairs = hunk ? sideBySide(hunk) : [];
    expect(pairs.map(({ left, right }) => [left && lineText(left), right && lineText(right)])).toEqual([
      ["a", "a"], ["old word", "new word"], [null, "more"], ["b", "b"],
    ]);
  });

  test("what is no patch is no hunk", () => {
    for (const patch of [null, "x", [], [{ lines: 3 }], [{}]]) expect(hunksOfPatch(patch)).toEqual([]);
  });

  test("every line changed ends in time and shows both texts", () => {
    const text = (word: string): string => Array.from({ length: 6_000 }, (_, at) => `${word} ${at * 7919}`).join("\n");
    expect(countLines(hunksBetween(text("one"), text("two")))).toEqual({ added: 6_000, removed: 6_000 });
  });
});
