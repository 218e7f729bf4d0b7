import { expect, test } from "vitest";
import type { Item, NoticeItem } from "../../src/protocol/transcript.ts";
import { isLoginFailure, noticeWords } from "../../src/view/transcript/notices.ts";
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
  expect(advice("Invalid API key · Fix external API key")).toMatch(/does not accept the API key.*ANTHROPIC_API_KEY/);
  expect(advice("Failed to authenticate. API Error: 403 scripted error")).toMatch(/login or the API key/);
  expect(advice("API Error: 401 · Please run /login")).toMatch(/not logged in/);
});

test("any other failure of the model asks for nothing but another try", () => {
  const busy = { ...notice, data: { error: "overloaded", status: 529 } };
  expect(noticeWords(busy, 0).advice).toBeUndefined();
  expect([isLoginFailure(busy), isLoginFailure(items[0]), isLoginFailure(undefined)]).toEqual([false, false, false]);
});
