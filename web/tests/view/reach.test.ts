import { expect, test } from "vitest";
import { bestAddresses, type Reach } from "../../src/view/pages/devices/reach.ts";

const reach = (addresses: readonly string[]): Reach => ({ listens: addresses.length ? "named" : "loopback", port: 1, secure: true, addresses });
const here = (origin: string) => ({ origin, hostname: new URL(origin).hostname });

test("a page of this machine gives no address to a phone", () => {
  for (const origin of ["http://127.0.0.1:8787", "http://localhost:8787", "http://fairlead.localhost:8787", "http://[::1]:8787"]) {
    expect(bestAddresses(reach([]), here(origin))).toEqual([]);
  }
});

test("the address that this page was opened by comes first, and none comes twice", () => {
  const found = bestAddresses(reach(["https://ship.example:8787", "https://10.0.0.2:8787"]), here("https://10.0.0.2:8787"));
  expect(found).toEqual(["https://10.0.0.2:8787", "https://ship.example:8787"]);
});
