import { expect, test } from "vitest";
import { extended, type Frame, nextApproval, NO_FILM, pauseAfter, stepped } from "../src/core/conversation/playback.ts";

const frame = (seq: number, kind: Frame["kind"], at = seq): Frame => ({ seq, at, kind, changes: [{ op: "add", to: "items", row: { id: `i${seq}` } }] as unknown as Frame["changes"] });
const film = extended(extended(NO_FILM, { snapshot: { items: [] }, frames: [frame(1, "message"), frame(2, "part")], last: 2, done: false }), {
  frames: [frame(3, "approval", 13), frame(4, "turn"), frame(5, "message")],
  last: 5,
  done: true,
});

test("U113 each position has the state after its frames, and pages continue each other", () => {
  expect(film.states.map((state) => (state["items"] as unknown[]).length)).toEqual([0, 1, 2, 3, 4, 5]);
  expect([film.last, film.done]).toEqual([5, true]);
});

test("U113 steps go from one message or turn to the next, and to the ends", () => {
  expect(stepped(film, 0, 1, ["message", "approval"])).toBe(2);
  expect(stepped(film, 2, 1, ["turn"])).toBe(3);
  expect(stepped(film, 4, 1, ["message"])).toBe(5);
  expect(stepped(film, 2, -1, ["turn"])).toBe(0);
  expect([nextApproval(film, 0), nextApproval(film, 3)]).toEqual([3, null]);
  expect(pauseAfter(film, 2, 2)).toBe(2);
});
