import { expect, test } from "vitest";
import type { Item, NoticeItem } from "../../src/protocol/transcript.ts";
import { isLoginFailure, noticeWords } from "../../src/view/transcript/items/notices.ts";
import recorded from "../../../tests/golden/transcript/2.1.325/no_auth.snapshot.json" with { type: "json" };

const items = recorded.items as unknown as readonly Item[];
const notice = items.find((item) => item.kind === "notice") as NoticeItem;

test("a turn that fails for want of a login says what to do, in plain words", () => {
  const { title, advice } = noticeWords(notice, 0);
  expect(title).toBe("Not logged in · Please run /login");
  expect(advice).toMatch(/terminal.*start claude.*\/login.*send your message again/);
  expect(isLoginFailure(notice)).toBe(true);
});

test("a key that is not accepted is another matter than a login", () => {
  const advice = (text: string) => noticeWords({ ...notice, text }, 0).advice;
  expect(advice("Invalid API key · Fix external API key")).toMatch(/rejected the key.*ANTHROPIC_API_KEY/);
  expect(advice("Failed to authenticate. API Error: 403 scripted error")).toMatch(/login or API key/);
  expect(advice("API Error: 401 · Please run /login")).toMatch(/not signed in/);
});

test("any other failure of the model asks for nothing but another try", () => {
  const busy = { ...notice, data: { error: "overloaded", status: 529 } };
  expect(noticeWords(busy, 0).advice).toBeUndefined();
  expect([isLoginFailure(busy), isLoginFailure(items[0]), isLoginFailure(undefined)]).toEqual([false, false, false]);
});

const limit = (data: Readonly<Record<string, unknown>>, now: number) =>
  noticeWords({ ...notice, notice: "rate_limit", text: "", data }, now).title;

test("a usage limit says which one, how much of it is used, and when it resets", () => {
  const now = new Date(2026, 2, 2, 9, 0).getTime() / 1000;
  const soon = new Date(2026, 2, 2, 14, 30).getTime() / 1000;
  const monday = new Date(2026, 2, 9, 9, 0).getTime() / 1000;
  const time = (at: number) => new Date(at * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  expect(limit({ status: "allowed_warning", rateLimitType: "five_hour", utilization: 0.91, resetsAt: soon }, now)).toBe(
    `5-hour limit: 91% used, resets ${time(soon)}`,
  );
  const weekly = limit({ status: "rejected", rateLimitType: "seven_day", resetsAt: monday }, now);
  expect(weekly).toMatch(/^Weekly limit reached, resets Mon.*9/);
  expect(limit({ status: "rejected", rateLimitType: "seven_day_opus" }, now)).toBe("Weekly limit (opus) reached");
  expect(limit({ status: "allowed_warning" }, now)).toBe("Usage limit: nearly reached");
  expect(limit({ status: "rejected", rateLimitType: "phase_of_moon" }, now)).toBe("Usage limit (phase of moon) reached");
});

test("retries say when the next one comes, and how many it took", () => {
  const retry = (data: Readonly<Record<string, unknown>>) => noticeWords({ ...notice, notice: "retry", text: "", data }, 100).title;
  const data = { attempt: 2, max_retries: 10, status: 429, error: "rate_limit", until: 100.7 };
  expect(retry(data)).toBe("Retrying in 0.7 s, attempt 2 of 10 (429 rate limit)");
  expect(retry({ ...data, over: true })).toBe("Recovered after 2 retries (429 rate limit)");
});
