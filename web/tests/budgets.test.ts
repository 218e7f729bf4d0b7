import { expect, test } from "vitest";
import { alertFor, nameOf, wordsOf } from "../src/core/settings/budgets.ts";
import { ALL_ON, minuteOf, timeOf, withKind } from "../src/core/settings/push.ts";
import type { BudgetAlert } from "../src/protocol/lobby.ts";
import { answeredSessions } from "../src/view/decisions/alerts/notification.ts";

const alert = (part: Partial<BudgetAlert> = {}): BudgetAlert => ({ id: "day:", scope: "day", key: "", limit_usd: 5, spent_usd: 4.2, level: "warned", ...part });

test("U121 a session shows the most urgent budget that covers it, and what follows", () => {
  const day = alert();
  const project = alert({ scope: "project", key: "/a", level: "reached", spent_usd: 6 });
  const other = alert({ scope: "session", key: "other", level: "reached" });
  expect(alertFor([day, other, project], "s", "/a")).toBe(project);
  expect(alertFor([day, other], "s", "/b")).toBe(day);
  expect(alertFor([other], "s", "/b")).toBe(null);
  expect(wordsOf(day)).toBe("Budget warning: $4.20 of $5.00 spent today.");
  expect(wordsOf(project)).toBe("Budget reached: $6.00 of $5.00 spent for this project. Messages wait until an owner raises it.");
});

test("a budget has a name in the list", () => {
  const state = { id: "", scope: "session", key: "s", limit_usd: 1, warn_percent: 80, zone: "UTC", spent_usd: 0, level: "" };
  expect(nameOf(state, (id) => `title of ${id}`)).toBe("title of s");
  expect(nameOf({ ...state, scope: "day" }, () => "")).toBe("Each day");
});

test("push settings turn one kind off and read times of the day", () => {
  expect(withKind(ALL_ON, "plan", false).kinds).not.toContain("plan");
  expect(withKind(withKind(ALL_ON, "plan", false), "plan", true)).toEqual(ALL_ON);
  expect(timeOf(7 * 60 + 5)).toBe("07:05");
  expect(minuteOf("22:30")).toBe(1350);
  expect(minuteOf("")).toBe(null);
});

test("a pushed notification is closed when nothing of its session waits any more", () => {
  const row = { id: "a:2", session: "a" } as never;
  expect(answeredSessions(new Set(["a:1", "b:1"]), [row])).toEqual(["session:b"]);
});
