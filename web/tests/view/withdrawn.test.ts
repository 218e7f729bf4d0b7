import { expect, test } from "vitest";
import type { PendingRow } from "../../src/protocol/pending.ts";
import type { Settled } from "../../src/protocol/transcript.ts";
import { gone } from "../../src/view/decisions/frame/withdrawn.ts";

const asked = [{ id: "a", title: "Bash", tool_name: "Bash" }] as unknown as readonly PendingRow[];

const why = (end: Partial<Settled> | null): string | undefined =>
  gone(asked, [], end ? [{ id: "a", by: null, stopped_by: null, ...end } as unknown as Settled] : [])[0]?.why;

test("what is still open is not gone", () => {
  expect(gone(asked, asked, [])).toEqual([]);
});

test.each([
  [{ outcome: "answered", by: "Ada's phone" }, "answered by Ada's phone"],
  [{ outcome: "answered" }, "answered elsewhere"],
  [{ outcome: "cancelled" }, "withdrawn by the agent"],
  [{ outcome: "cancelled", stopped_by: "Ada's phone" }, "stopped by Ada's phone"],
  [{ outcome: "superseded", stopped_by: "Ada's phone" }, "stopped by Ada's phone"],
  [{ outcome: "process_ended", stopped_by: "Ada's phone" }, "stopped by Ada's phone"],
  [{ outcome: "process_ended" }, "Claude Code exited"],
  [null, "no longer needed"],
])("%j is told as %s", (end, words) => {
  expect(why(end)).toBe(words);
});
