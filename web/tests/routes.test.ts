import { expect, test } from "vitest";
import { parameter, pathOf, routeOf, sessionOf, written, type Route } from "../src/core/routes.ts";

const ROUTES: readonly Route[] = [
  { page: "home" },
  { page: "inbox" },
  { page: "session", id: "a-1" },
  { page: "session", id: "a-1", item: "msg/0 &?#" },
  { page: "log", id: "a-1" },
  { page: "terminal", id: "a-1", query: "" },
  { page: "search", query: "q=retry%20queue&kind=error" },
  { page: "usage", query: "" },
  { page: "devices", query: "" },
  { page: "settings", query: "session=a-1" },
  { page: "keys", query: "" },
  { page: "help", query: "" },
];

test.each(ROUTES)("the address of $page leads back to it", (route) => {
  const [path = "", search = ""] = pathOf(route).split(/(?=\?)/);
  expect(routeOf(path, search)).toEqual(route);
});

test("an address that nobody knows is the beginning", () => {
  for (const path of ["/nowhere", "/s/", "/s/a/b", "/searching", "/s/../x"]) {
    expect(routeOf(path)).toEqual({ page: "home" });
  }
});

test("a route says which session is followed", () => {
  expect(sessionOf({ page: "session", id: "x" })).toBe("x");
  expect(sessionOf({ page: "log", id: "x" })).toBe("x");
  expect(sessionOf({ page: "help", query: "session=x" })).toBe("x");
  expect(sessionOf({ page: "usage", query: "session=x" })).toBeNull();
  expect(sessionOf({ page: "settings", query: "" })).toBeNull();
});

test("parameters survive signs that mean something in an address", () => {
  const query = written({ q: 'a&b="c d" 100%', empty: "", kind: "é" });
  expect(query).not.toContain("empty");
  expect(parameter(query, "q")).toBe('a&b="c d" 100%');
  expect(parameter(query, "kind")).toBe("é");
  expect(parameter("q=%E0%A4", "q")).toBe("%E0%A4"); // Half a letter is shown as it is.
});
