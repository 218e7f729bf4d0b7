import { describe, expect, test } from "vitest";
import type { Item } from "../../src/protocol/transcript.ts";
import {
  commandOffers, connected, knownResources, mentionAt, nameOffers, resourceOffers, serverOffers, withMention,
} from "../../src/view/composer/mentions.ts"; // prettier-ignore

describe("what is named at the caret", () => {
  test.each([
    ["@", "", 0],
    ["look at @src/ap", "src/ap", 8],
    ["(@a", "a", 1],
    ['see @"two wor', "two wor", 4],
    ["first\n@x", "x", 6],
    ["@github:issue://12", "github:issue://12", 0],
  ])("%j is %j", (text, typed, start) => {
    expect(mentionAt(text, text.length)).toEqual({ typed, start });
  });

  test.each(["me@example.com", "no mention", "@done ", 'a@"b', "@a b"])("%j names nothing", (text) => {
    expect(mentionAt(text, text.length)).toBeNull();
  });

  test("only the text before the caret counts", () => {
    expect(mentionAt("@abc", 2)).toEqual({ typed: "a", start: 0 });
  });
});

describe("taking an offer", () => {
  const take = (text: string, path: string, is_folder = false) => {
    const at = mentionAt(text, text.length)!;
    return withMention(text, text.length, at, nameOffers([{ path, is_folder }])[0]!);
  };

  test("writes the path and a blank", () => {
    expect(take("see @se", "src/server.ts")).toEqual({ text: "see @src/server.ts ", caret: 19 });
  });

  test("goes on inside a folder", () => {
    expect(take("@s", "src/", true)).toEqual({ text: "@src/", caret: 5 });
  });

  test("puts a name with blanks into quotes, which stay open in a folder", () => {
    expect(take("@no", "my notes.md").text).toBe('@"my notes.md" ');
    const inside = take("@my", "my docs/", true);
    expect(inside.text).toBe('@"my docs/');
    expect(mentionAt(inside.text, inside.caret)?.typed).toBe("my docs/");
  });

  test("leaves the text after the caret as it is", () => {
    const at = mentionAt("a @b c", 4)!;
    const offer = nameOffers([{ path: "bee", is_folder: false }])[0]!;
    expect(withMention("a @b c", 4, at, offer)).toEqual({ text: "a @bee c", caret: 6 });
  });
});

describe("resources", () => {
  const listed = (result: string, structured: unknown = null, name = "ListMcpResourcesTool") =>
    ({ kind: "tool", name, result, structured }) as unknown as Item;
  const one = { server: "docs", uri: "file://api/auth", name: "Signing in" };

  test("are those that the session has listed, each once", () => {
    const items = [listed(JSON.stringify([one])), listed("no JSON"), listed("", [one, { ...one, uri: "file://b" }])];
    expect(knownResources(items).map((found) => found.uri)).toEqual(["file://api/auth", "file://b"]);
    expect(knownResources([listed(JSON.stringify([one]), null, "Read")])).toEqual([]);
  });

  test("are written as the CLI reads them", () => {
    expect(resourceOffers("sign", [one])[0]).toMatchObject({ text: "@docs:file://api/auth", label: "Signing in" });
    expect(resourceOffers("docs:file", [one])).toHaveLength(1);
    expect(resourceOffers("zzz", [one])).toEqual([]);
  });
});

test("commands keep their hint and what they are about", () => {
  const all = [{ name: "compact", description: "Make room", hint: "[words]" }];
  expect(commandOffers("comp", all)[0]).toMatchObject({ label: "/compact", hint: "[words]", about: "Make room" });
});

describe("servers whose resources were not listed", () => {
  const servers = [{ name: "github", status: "connected" }, { name: "broken", status: "failed" }, { name: "wiki", status: "connected" }, null];

  test("only those that are connected", () => {
    expect(connected(servers)).toEqual(["github", "wiki"]);
  });

  test("are offered by their name, and the search goes on behind it", () => {
    expect(serverOffers("git", connected(servers))).toMatchObject([{ text: "@github:", goesOn: true }]);
    expect(serverOffers("github:iss", connected(servers))).toEqual([]);
  });
});
