import { expect, test } from "vitest";
import type { InboxRow } from "../../src/protocol/lobby.ts";
import { arrivals, isSeen, noticeFor } from "../../src/view/decisions/alerts/notification.ts";

const row = (part: Partial<InboxRow> = {}): InboxRow => ({
  id: "s:r", session: "s", session_title: "Fix the test", request_id: "r", kind: "permission", tool_name: "Bash", title: "Bash", at: 1, input_sha256: "", subject: "", reason: "", group: "", held: null, node: "", ...part,
}); // prettier-ignore

test("a notification says who asks for what, and never lets anything be allowed from it", () => {
  const notice = noticeFor(row());
  expect(notice).toEqual({
    title: "Fix the test",
    body: "Asks to use Bash. Open it to see the full request and answer.",
    tag: "s:r",
    session: "s",
  });
  expect(Object.keys(notice)).not.toContain("actions");
});

test.each([
  ["question", "Asks a question"],
  ["plan", "Has a plan to approve"],
  ["elicitation", "Asks to fill in a form"],
  ["dialog", "Shows a dialog"],
])("a %s is told as one", (kind, words) => {
  expect(noticeFor(row({ kind })).body.startsWith(`${words}.`)).toBe(true);
});

test("what hides or turns text around is taken out, and long texts are cut", () => {
  const notice = noticeFor(row({ session_title: `ok\u202e${"x".repeat(500)}\n\u0007`, title: `a\u200bb${"y".repeat(500)}` }));
  expect(notice.title).toHaveLength(60);
  expect(notice.title).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(notice.body).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(notice.body.length).toBeLessThan(150);
});

test("a session without a name still has a title", () => {
  expect(noticeFor(row({ session_title: "\u202e" })).title).toBe("A session");
});

test("only what came after the first look is news", () => {
  const [one, two] = [row(), row({ id: "s:2" })];
  expect(arrivals(null, [one])).toEqual([]);
  expect(arrivals(new Set([one.id]), [one, two])).toEqual([two]);
});

test("who looks at it already is not told", () => {
  const gaze = { here: true, inbox: false, session: "s" };
  expect(isSeen(row(), gaze)).toBe(true);
  expect(isSeen(row(), { ...gaze, session: "other" })).toBe(false);
  expect(isSeen(row(), { ...gaze, session: null, inbox: true })).toBe(true);
  expect(isSeen(row(), { ...gaze, here: false })).toBe(false);
});
