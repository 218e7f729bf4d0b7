import { expect, test } from "vitest";
import { gist, joined, pretty, type LogLine } from "../src/core/conversation/log_lines.ts";

const line = (seq: number, text = "{}"): LogLine => ({ seq, at: 0, direction: "out", kind: "assistant", size: text.length, text, cut: false });

test("JSON is indented, and what is none is left as it is", () => {
  expect(pretty('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(pretty("not json {")).toBe("not json {");
});

test("the gist leaves out the type, which stands beside it", () => {
  expect(gist(line(1, '{"type":"assistant","message":{"id":1}}'))).toBe('"message":{"id":1}');
  expect(gist(line(1, '{"fact": "process_started", "x": 1}'))).toBe('"x": 1');
  expect(gist(line(1, `{"type":"user","text":"${"x".repeat(999)}"}`)).length).toBe(241);
});

test("runs of lines become one, in order and without doubles", () => {
  const seqs = (lines: readonly LogLine[]) => lines.map((one) => one.seq);
  expect(seqs(joined([line(1), line(2)], [line(3)]))).toEqual([1, 2, 3]);
  expect(seqs(joined([line(1), line(2)], [line(2), line(3)]))).toEqual([1, 2, 3]);
  expect(seqs(joined([], [line(2)]))).toEqual([2]);
  expect(seqs(joined([line(2)], []))).toEqual([2]);
});
