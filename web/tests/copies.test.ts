import { describe, expect, test } from "vitest";
import type { Known } from "../src/core/connection/client.ts";
import { keptState, shownLobby, shownState, withCopies } from "../src/core/connection/copies.ts";
import type { Followed } from "../src/core/connection/documents.ts";
import type { Lobby } from "../src/protocol/lobby.ts";

const document = (items: readonly object[], first = 0): Followed => ({
  name: "s", epoch: "e", seq: 9, fetching: false, window: { first, total: first + items.length },
  state: { items, pending: [{ id: "r" }], status: { state: "thinking", detail: "x", background: 2, waiting: 1 } },
}); // prettier-ignore

const known = (part: Partial<Known> = {}): Known =>
  ({ lobby: null, documents: new Map(), missing: new Map(), welcome: null, outbox: [], skew: 0, ...part }) as unknown as Known;

describe("what is kept of a document", () => {
  test("is its end, and the window says so", () => {
    const items = Array.from({ length: 500 }, (_, at) => ({ id: `i${at}` }));
    const { state, window } = keptState(document(items, 40));
    const kept = state["items"] as readonly { id: string }[];
    expect([kept.length, kept[0]?.id, window.first]).toEqual([200, "i300", 340]);
  });

  test("has no pictures and no endless texts", () => {
    const item = { id: "i", images: [{ data: "x" }], result: "y".repeat(50_000), structured: { content: "z".repeat(50_000) }, text: "short" };
    const [row] = keptState(document([item])).state["items"] as readonly Record<string, unknown>[];
    expect(row).toMatchObject({ images: [], structured: null, text: "short" });
    expect(String(row?.["result"])).toMatch(/^y{20000}\n… \(cut/);
    expect(item.result).toHaveLength(50_000);
  });
});

describe("a copy that stands in", () => {
  test("asks nothing and claims nothing to run", () => {
    expect(shownState(document([]).state)).toMatchObject({ pending: [], status: { state: "", background: 0 } });
    const lobby = { sessions: [{ id: "s", pending: 2, live: true, status: { state: "thinking" } }], inbox: [{}], devices: [], server: {} };
    expect(shownLobby(lobby as unknown as Lobby)).toMatchObject({ inbox: [], sessions: [{ pending: 0, live: false, status: { state: "" } }] });
  });

  test("gives way to what the server says", () => {
    const lobby = { sessions: [], inbox: [], devices: [], server: {} } as unknown as Lobby;
    const copies = new Map([["s", { at: 1, document: document([]) }]]);
    const alone = withCopies(known(), lobby, copies);
    expect([alone.lobby, [...alone.documents.keys()]]).toEqual([lobby, ["s"]]);
    const real = known({ lobby: { ...lobby }, documents: new Map([["s", document([{ id: "new" }])]]) });
    expect(withCopies(real, lobby, copies)).toBe(real);
    const gone = known({ lobby, missing: new Map([["s", "there is none"]]) });
    expect(withCopies(gone, lobby, copies)).toBe(gone);
  });
});
