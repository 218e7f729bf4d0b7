import { describe, expect, test } from "vitest";
import type { Item } from "../../src/protocol/transcript.ts";
import { editsOf } from "../../src/view/panel/file_edits.ts";
import { deedsFor, serversOf, statusOf } from "../../src/view/panel/mcp_servers.ts";
import { runsByLine, segments, sidesOf } from "../../src/view/tools/diff/diff_colors.ts";
import { hunksBetween } from "../../src/view/tools/diff/diff_model.ts";

describe("MCP servers", () => {
  const listed = [{ name: "my docs", status: "connected" }, { name: "x", status: "needs-auth" }, { status: "failed" }, 7];
  const servers = serversOf(listed, ["Read", "mcp__my_docs__search", "mcp__my_docs__read_page", "mcp__x__y"]);

  test("have their own tools, without their names", () => {
    expect(servers.map(({ name, tools }) => ({ name, tools }))).toEqual([
      { name: "my docs", tools: ["search", "read_page"] },
      { name: "x", tools: ["y"] },
    ]);
  });

  test("are told in words, and helped as they need it", () => {
    const server = { name: "a", status: "connected", error: "", source: "", tools: [] };
    expect(statusOf(server)).toEqual({ label: "connected", tone: "ok" });
    expect(statusOf({ ...server, status: "failed" }).tone).toBe("bad");
    expect(statusOf({ ...server, status: "some_new_state" }).label).toBe("some new state");
    expect(deedsFor({ ...server, status: "needs-auth" })).toEqual({ on: true, signIn: true, reconnect: false });
    expect(deedsFor({ ...server, status: "disabled" })).toEqual({ on: false, signIn: false, reconnect: false });
    expect(deedsFor({ ...server, status: "failed" })).toEqual({ on: true, signIn: false, reconnect: true });
  });
});

describe("the changes of a file", () => {
  const call = (name: string, input: object, part: object = {}) =>
    ({ kind: "tool", id: name, name, state: "done", at: 1, ended: 2, input, structured: null, ...part }) as unknown as Item;

  test("are those that were done to it, in order", () => {
    const items = [
      call("Write", { file_path: "/a.py", content: "x" }, { structured: { type: "create", filePath: "/a.py", content: "x" } }),
      call("Edit", { file_path: "/a.py", old_string: "x", new_string: "y" }),
      call("Edit", { file_path: "/b.py", old_string: "x", new_string: "y" }),
      call("Edit", { file_path: "/a.py", old_string: "y", new_string: "z" }, { state: "denied" }),
      call("NotebookEdit", { notebook_path: "/a.py", new_source: "n" }),
      call("Bash", { command: "rm /a.py" }),
    ];
    const edits = editsOf("/a.py", items);
    expect(edits.map(({ tool, created }) => [tool, created])).toEqual([["Write", true], ["Edit", false], ["NotebookEdit", false]]);
  });
});

describe("colors of a change", () => {
  const [hunk] = hunksBetween("let a = 1;\nsame\n", "let a = 2;\nsame\n", true);
  const hunks = [hunk!];

  test("are made for the text before and for the text after", () => {
    const { before, after } = sidesOf(hunks);
    expect(before.text).toBe("let a = 1;\nsame");
    expect(after.text).toBe("let a = 2;\nsame");
  });

  test("are laid over what changed without losing a letter", () => {
    const line = hunks[0]!.lines.find((one) => one.kind === "added")!;
    const runs = [["let", "hljs-keyword"], [" a = ", ""], ["2", "hljs-number"], [";", ""]] as const;
    const parts = segments(line.pieces, runs);
    expect(parts.map((one) => one.text).join("")).toBe("let a = 2;");
    expect(parts.find((one) => one.text.includes("2"))).toMatchObject({ changed: true, name: "hljs-number" });
    expect(parts[0]).toEqual({ text: "let", name: "hljs-keyword", changed: false });
  });

  test("that do not fit the text are left away", () => {
    const line = hunks[0]!.lines[0]!;
    expect(segments(line.pieces, [["other", "x"]]).every((one) => one.name === "")).toBe(true);
    expect(runsByLine(sidesOf(hunks).after, [[]]).size).toBe(0);
    expect(runsByLine(sidesOf(hunks).after, null).size).toBe(0);
  });
});
