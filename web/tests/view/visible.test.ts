import { describe, expect, test } from "vitest";
import { isSuspicious, visible, visiblePath, warningFor } from "../../src/view/parts/visible.ts";

const shown = (text: string): string =>
  visible(text)
    .runs.map((run) => (run.kind === "text" ? run.shown : `[${run.shown}]`))
    .join("");

describe("visible", () => {
  test("plain text of any language stays as it is", () => {
    for (const text of ["git commit -am 'ok'", "a\tb\nc", "Привет мир", "naïve café", "日本語", "你好 👋"]) {
      expect(shown(text)).toBe(text);
      expect(isSuspicious(text)).toBe(false);
    }
  });

  test.each([
    ["\u202e", "RLO"], ["\u2066", "LRI"], ["\u200b", "ZWSP"], ["\ufeff", "BOM"], ["\u0000", "NUL"],
    ["\u001b", "ESC"], ["\r", "CR"], ["\u00a0", "NBSP"], ["\u2028", "LSEP"], ["\u3164", "HANGUL FILLER"],
    ["\u{e0041}", "TAG A"], ["\ue000", "U+E000"], ["\u2003", "U+2003"], ["\ufe0f", "U+FE0F"],
    ["\u00ad", "SHY"], ["\u0085", "U+0085"], ["\ud800", "U+D800"], ["\u180e", "MVS"],
  ])("%j is shown as a token", (letter, name) => {
    expect(shown(`rm${letter} x`)).toBe(`rm[${name}] x`);
    expect(visible(`rm${letter} x`).hidden).toBe(1);
  });

  test("a letter of another script inside a Latin word is marked, a whole word is not", () => {
    expect(shown("cаt файл")).toBe("c[а]t файл");
    expect(visible("cаt").alike).toBe(1);
    expect(shown("ｒm")).toBe("[ｒ]m");
  });

  test("long runs of blanks become a count, indentation does not", () => {
    expect(shown("a" + "\n".repeat(9_998) + "rm")).toBe("a[⏎×9,998\n]rm");
    expect(shown("ls" + " ".repeat(10_000) + "; rm")).toBe("ls[space×10,000]; rm");
    expect(shown("            x\n\n\ny")).toBe("            x\n\n\ny");
  });

  test("marks piled on one letter are counted from the fourth", () => {
    expect(visible("e\u0301").hidden).toBe(0);
    expect(visible(`e${"\u0301".repeat(6)}`).hidden).toBe(3);
  });

  test("nothing is lost: the runs hold every letter that is shown as it is", () => {
    const text = "echo 'a\u200bb' && cаt x\u202e\n";
    const plain = visible(text).runs.filter((run) => run.kind === "text").map((run) => run.shown);
    expect(plain.join("")).toBe("echo 'ab' && ct x\n");
  });

  test("a file name with a line break or a tab does not look like one with a space", () => {
    expect(visiblePath("src/a b.ts")).toBe("src/a b.ts");
    expect(visiblePath("src/a\nb\tc.ts")).toBe("src/a␊b␉c.ts");
    expect(visiblePath("a\u001b[2Jb")).toBe("a⟨ESC⟩[2Jb");
  });

  test("one warning names everything at once", () => {
    expect(warningFor(["ls"])).toBe("");
    expect(warningFor(["a\u200bb", "cаt"])).toBe(
      "Warning: contains 1 invisible or control character; 1 look-alike letter.",
    );
    expect(warningFor(["rm שלום"])).toContain("right-to-left");
  });

  test("a text of plain letters is one run, unless its blanks are many", () => {
    expect(visible("").runs).toEqual([]);
    expect(visible("src/a b.ts\n\tx").runs).toEqual([{ kind: "text", shown: "src/a b.ts\n\tx", name: "" }]);
    expect(visible(`a${" ".repeat(24)}b`).blanks).toBe(1);
    expect(visible("a\n \n\t\n\nb").blanks).toBe(1);
  });

  test("200 KB are made visible in a moment", () => {
    expect(visible("ls -la /tmp; ".repeat(16_000)).runs).toHaveLength(1);
  });
});
