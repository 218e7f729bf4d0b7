/** A client over sockets that come and go: nothing lost, nothing doubled. */
import { beforeEach, describe, expect, test } from "vitest";
import { Client, type Known } from "../src/core/connection/client.ts";
import type { Intent } from "../src/protocol/intents.ts";
import type { FromServer, IntentResult, Problem, SnapshotMessage, Welcome } from "../src/protocol/messages.ts";
import { TestWorld } from "./world.ts";

const welcome = (part: Partial<Welcome> = {}): Welcome => ({
  type: "welcome", protocol: 1, device: "d", role: "owner", version: "0", agent: "demo", last_intent: 0, time: 1_005, ...part,
});
const snapshot = (seq: number, text: string, part: Partial<SnapshotMessage> = {}): SnapshotMessage => ({
  type: "snapshot", document: "s", epoch: "e1", seq, state: { items: [{ id: "a", text }], status: {} }, window: { first: 0, total: 1 }, ...part,
});
const append = (from_seq: number, seq: number, offset: number, text: string) =>
  ({ type: "changes", document: "s", from_seq, seq, changes: [{ op: "append", to: "items", id: "a", field: "text", offset, text }] }) as const;
const done = (n: number): IntentResult => ({ type: "intent_result", n, ok: true, result: {}, code: null, message: null });
const ask: Intent = { kind: "interrupt", session: "s" };

let world: TestWorld;
let client: Client;
let seen: Known[];
let problems: Problem[];
let refused: Intent[];

function begin(): Client {
  seen = [];
  problems = [];
  refused = [];
  return new Client(world, world.keep, { token: "t", client: "c" }, {
    changed: (known) => void seen.push(known),
    problem: (problem) => void problems.push(problem),
    refused: (intent) => void refused.push(intent),
  });
}

function online(part: Partial<Welcome> = {}): void {
  world.socket.open();
  world.socket.say(welcome(part));
}

const text = (): unknown => (client.known.documents.get("s")?.state["items"] as { text: string }[] | undefined)?.[0]?.text;

beforeEach(() => {
  world = new TestWorld();
  client = begin();
  client.start();
});

describe("the connection", () => {
  test("says hello with its token and client first, and is online after the welcome", () => {
    online();
    expect(world.socket.sent).toEqual([{ type: "hello", protocol: 1, token: "t", client: "c" }]);
    expect(client.known.link.state).toBe("online");
    expect(client.known.skew).toBe(5);
  });

  test("comes back after a loss, and waits longer after each try that fails", () => {
    online();
    const pauses: number[] = [];
    for (let at = 0; at < 8; at += 1) {
      world.socket.drop();
      const { link } = client.known;
      if (link.state !== "waiting") throw new Error(link.state);
      pauses.push(link.until - link.since);
      world.pass(link.until - link.since);
    }
    expect(pauses).toEqual([0.5, 1, 2, 4, 8, 15, 15, 15]);
    expect(world.sockets).toHaveLength(9);
  });

  test("takes a silent socket for dead", () => {
    online();
    world.pass(49);
    expect(client.known.link.state).toBe("online");
    world.pass(2);
    expect(world.sockets[0]?.closed).toBe(true);
    expect(world.sockets).toHaveLength(2);
  });

  test("does not come back when the server says so", () => {
    online();
    world.socket.say({ type: "bye", reason: "this device was revoked", again: false });
    world.socket.drop(4401);
    expect(client.known.link).toMatchObject({ state: "refused", code: 4401, reason: "this device was revoked" });
    world.pass(600);
    expect(world.sockets).toHaveLength(1);
  });

  test("passes by what an old socket still says", () => {
    online();
    const old = world.socket;
    old.drop();
    world.pass(1);
    online();
    old.say({ type: "bye", reason: "late", again: false });
    old.drop();
    expect(client.known.link.state).toBe("online");
  });

  test("does not wait when it is told to hurry", () => {
    online();
    for (let at = 0; at < 5; at += 1) {
      world.socket.drop();
      client.hurry();
    }
    expect(world.sockets).toHaveLength(6);
  });
});

describe("documents", () => {
  beforeEach(() => {
    online();
    client.look("s");
    world.socket.say(snapshot(4, "one"));
    world.frame();
  });

  test("are told to the listener once in a frame", () => {
    const before = seen.length;
    world.socket.say(append(4, 5, 3, " two"));
    world.socket.say(append(5, 6, 7, " three"));
    expect(text()).toBe("one");
    world.frame();
    expect(text()).toBe("one two three");
    expect(seen.length).toBe(before + 1);
  });

  test("are acknowledged for many frames together, and never before they are applied", () => {
    world.pass(2);
    const before = world.socket.of("ack").length;
    for (let seq = 4; seq < 20; seq += 1) {
      world.socket.say(append(seq, seq + 1, seq - 1, "x"));
      world.frame();
    }
    world.socket.say(append(20, 21, 19, "y"));
    expect(world.socket.of("ack")).toHaveLength(before);
    world.pass(2);
    expect(world.socket.of("ack").slice(before)).toEqual([{ type: "ack", document: "s", seq: 20 }]);
    world.frame();
    world.pass(2);
    expect(world.socket.of("ack").at(-1)).toEqual({ type: "ack", document: "s", seq: 21 });
  });

  test("are acknowledged at once after half a MiB, so that the server need not stop", () => {
    world.pass(2);
    const before = world.socket.of("ack").length;
    world.socket.say(append(4, 5, 3, "x".repeat(300_000)));
    world.frame();
    expect(world.socket.of("ack")).toHaveLength(before);
    world.socket.say(append(5, 6, 300_003, "x".repeat(300_000)));
    world.frame();
    expect(world.socket.of("ack").slice(before)).toEqual([{ type: "ack", document: "s", seq: 6 }]);
    world.pass(2);
    expect(world.socket.of("ack")).toHaveLength(before + 1);
  });

  test("are not acknowledged after the client was stopped", () => {
    world.pass(2);
    const { socket } = world;
    const before = socket.of("ack").length;
    socket.say(append(4, 5, 3, " two"));
    world.frame();
    client.stop();
    world.pass(2);
    expect(socket.of("ack")).toHaveLength(before);
  });

  test("go on after a lost socket from where they were", () => {
    world.socket.drop();
    world.pass(1);
    world.socket.open();
    expect(world.socket.sent[0]).toMatchObject({ type: "hello", session: "s", last_seq: 4, epoch: "e1", oldest: "a" });
    world.socket.say(welcome());
    world.socket.say(append(4, 5, 3, " two"));
    world.frame();
    expect(text()).toBe("one two");
  });

  test("are opened anew when changes were missed", () => {
    world.socket.say(append(9, 10, 3, " lost"));
    world.frame();
    expect(text()).toBe("one");
    expect(world.socket.of("open").at(-1)).toEqual({ type: "open", document: "s", window: 200 });
    world.socket.say(snapshot(10, "one and all"));
    world.frame();
    expect(text()).toBe("one and all");
  });

  test("are opened anew when changes do not fit", () => {
    world.socket.say({ type: "changes", document: "s", from_seq: 4, seq: 5, changes: [{ op: "remove", to: "items", id: "nobody" }] });
    world.frame();
    expect(world.socket.of("open").at(-1)).toEqual({ type: "open", document: "s", window: 200 });
  });

  test("take older items before their own, and ask for them once", () => {
    world.socket.say(snapshot(4, "one", { window: { first: 2, total: 3 } }));
    world.frame();
    expect(client.fetchOlder("s")).toBe(true);
    expect(client.fetchOlder("s")).toBe(false);
    expect(world.socket.of("fetch")).toEqual([{ type: "fetch", document: "s", before: "a", count: 200 }]);
    world.socket.say({ type: "page", document: "s", before: "a", items: [{ id: "y" }, { id: "z" }], window: { first: 0, total: 3 }, turns: [{ id: "t0", outcome: "success" }] });
    world.frame();
    expect(client.known.documents.get("s")?.state["past"]).toEqual([{ id: "t0", outcome: "success" }]);
    const items = client.known.documents.get("s")?.state["items"] as { id: string }[];
    expect(items.map((item) => item.id)).toEqual(["y", "z", "a"]);
    expect(client.fetchOlder("s")).toBe(false);
  });

  test("drop their oldest items when the server says that it changes them no more", () => {
    const items = ["a", "b", "c"].map((id) => ({ id, text: id, turn: `t-${id}` }));
    const past = [{ id: "t-a", outcome: "success" }, { id: "t-b", outcome: "success" }];
    world.socket.say(snapshot(4, "", { state: { items, turns: [], past, status: {} }, window: { first: 2, total: 5 } }));
    world.frame();
    expect(client.release("s", "nobody")).toBe(false);
    expect(client.release("s", "a")).toBe(false);
    expect(client.release("s", "b")).toBe(true);
    expect(world.socket.of("release")).toEqual([{ type: "release", document: "s", oldest: "b" }]);
    // Changes that were on their way may still concern what is dropped.
    world.socket.say({ type: "changes", document: "s", from_seq: 4, seq: 5, changes: [{ op: "set", to: "items", id: "a", fields: { text: "late" } }] });
    world.socket.say({ type: "released", document: "s", oldest: "b", window: { first: 3, total: 5 } });
    world.frame();
    expect((client.known.documents.get("s")?.state["items"] as unknown[]).length).toBe(3);
    world.frame(); // A frame of its own.
    const known = client.known.documents.get("s");
    expect((known?.state["items"] as { id: string }[]).map((item) => item.id)).toEqual(["b", "c"]);
    expect(known?.state["past"]).toEqual([{ id: "t-b", outcome: "success" }]);
    expect(known?.window).toEqual({ first: 3, total: 5 });
    expect(client.fetchOlder("s")).toBe(true);
    expect(world.socket.of("fetch")).toMatchObject([{ before: "b" }]);
    expect(client.release("s", "c")).toBe(false); // Not while older items are on their way.
  });

  test("keep the turns that the server lists no longer", () => {
    const state = { items: [{ id: "a", text: "" }], turns: [{ id: "t1", outcome: "success" }, { id: "t2", outcome: null }], status: {} };
    world.socket.say(snapshot(4, "", { state }));
    world.socket.say({ type: "changes", document: "s", from_seq: 4, seq: 5, changes: [{ op: "remove", to: "turns", id: "t1" }] });
    world.frame();
    expect(client.known.documents.get("s")?.state).toMatchObject({ past: [{ id: "t1" }], turns: [{ id: "t2" }] });
  });

  test("that nobody looks at are told so, and back again", () => {
    client.look("t");
    client.look("s");
    expect(world.socket.of("look")).toEqual([
      { type: "look", document: "s", looking: false },
      { type: "look", document: "t", looking: false },
      { type: "look", document: "s", looking: true },
    ]);
    expect(world.socket.of("open").map((one) => one.document)).toEqual(["s", "t"]);
  });

  test("that do not exist are missing, with the server's words", () => {
    world.socket.say({ type: "error", code: "not_found", message: "no such thing", document: "x", details: {} });
    world.frame();
    expect(client.known.missing.get("x")).toBe("no such thing");
    expect(problems).toEqual([]);
  });

  test("that cannot be shown now are opened again, with the server's reason meanwhile", () => {
    client.look("x");
    world.socket.say({ type: "error", code: "unavailable", message: "laptop is away", document: "x", details: {} });
    world.frame();
    expect(client.known.awaited?.get("x")).toBe("laptop is away");
    expect(problems).toEqual([]);
    const opened = () => world.socket.of("open").filter((one) => one.document === "x").length;
    const before = opened();
    world.pass(2);
    expect(opened()).toBe(before + 1);
    world.socket.say({ ...snapshot(1, "there"), document: "x" });
    world.frame();
    expect(client.known.awaited?.get("x")).toBeUndefined();
  });
});

describe("intents", () => {
  test("are answered by their number", async () => {
    online();
    const answer = client.send(ask);
    expect(world.socket.of("intent")).toEqual([{ type: "intent", n: 1, intent: ask }]);
    world.socket.say(done(1));
    world.frame();
    expect((await answer).ok).toBe(true);
    expect(client.known.outbox).toEqual([]);
  });

  test("go out again with the same number after a lost socket", async () => {
    online();
    const answer = client.send(ask);
    world.socket.drop();
    world.pass(1);
    online({ last_intent: 1 });
    expect(world.socket.of("intent")).toEqual([{ type: "intent", n: 1, intent: ask }]);
    world.socket.say(done(1));
    world.frame();
    expect((await answer).ok).toBe(true);
  });

  test("wait while there is no connection, and survive a reload", () => {
    void client.send(ask);
    client.stop();
    client = begin();
    client.start();
    expect(client.known.outbox.map((one) => one.n)).toEqual([1]);
    online();
    expect(world.socket.of("intent")).toEqual([{ type: "intent", n: 1, intent: ask }]);
  });

  test("are numbered above what the server has acted on, if the memory of it was lost", () => {
    online({ last_intent: 41 });
    void client.send(ask);
    expect(world.socket.of("intent").map((one) => one.n)).toEqual([42]);
  });

  test("that are refused come back with their words, also after a reload", () => {
    const send: Intent = { kind: "send", session: "s", text: "words", uuid: "u" };
    void client.send(send);
    client = begin();
    client.start();
    online();
    world.socket.say({ ...done(1), ok: false, code: "too_large", message: "no" });
    world.frame();
    expect(refused).toEqual([send]);
    expect(client.known.outbox).toEqual([]);
  });

  test("that keep a draft outdate each other", () => {
    for (const words of ["a", "ab", "abc"]) void client.send({ kind: "keep_draft", session: "s", text: words });
    void client.send({ kind: "keep_draft", session: "t", text: "x" });
    expect(client.known.outbox.map((one) => one.n)).toEqual([3, 4]);
  });
});

describe("an item of long ago", () => {
  beforeEach(() => {
    client.look("s");
    online();
    world.socket.say(snapshot(4, "one", { window: { first: 3, total: 4 } }));
    world.frame();
  });

  const page = (before: string, ids: readonly string[], first: number): FromServer => ({
    type: "page", document: "s", before, items: ids.map((id) => ({ id })), window: { first, total: 4 }, turns: [],
  });

  test("is fetched page by page until it is there", async () => {
    const there = client.seek("s", "x");
    expect(world.socket.of("fetch")).toEqual([{ type: "fetch", document: "s", before: "a", count: 1000 }]);
    world.socket.say(page("a", ["y", "z"], 1));
    world.frame();
    expect(world.socket.of("fetch").at(-1)).toMatchObject({ before: "y" });
    world.socket.say(page("y", ["x"], 0));
    world.frame();
    expect(await there).toBe(true);
    expect(world.socket.of("fetch")).toHaveLength(2);
  });

  test("that does not exist is not looked for without end", async () => {
    const there = client.seek("s", "nobody");
    world.socket.say(page("a", ["x"], 0));
    world.frame();
    expect(await there).toBe(false);
  });

  test("that is here needs no asking", async () => {
    expect(await client.seek("s", "a")).toBe(true);
    expect(world.socket.of("fetch")).toEqual([]);
  });

  test("is given up when the server refuses, and when another one is wanted", async () => {
    const first = client.seek("s", "x");
    const second = client.seek("s", "y");
    expect(await first).toBe(false);
    world.socket.say({ type: "error", code: "stale", message: "no", document: "s", details: {} });
    world.frame();
    expect(await second).toBe(false);
  });
});
