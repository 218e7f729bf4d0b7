import { expect, test } from "vitest";
import { mayAs, ROLES } from "../src/core/roles.ts";

test("a role includes itself and every role before it", () => {
  const order = ROLES.map((role) => role.value);
  for (const [mine, role] of order.entries())
    for (const [theirs, needed] of order.entries()) expect(mayAs(role, needed)).toBe(mine >= theirs);
});

test("an unknown role may do nothing, and nobody may do what needs one", () => {
  expect(mayAs("nobody", "viewer")).toBe(false);
  expect(mayAs("owner", "admin")).toBe(false);
  expect(mayAs("nobody", "nobody")).toBe(false);
});
