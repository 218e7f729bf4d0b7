import { describe, expect, it } from "vitest";
import { aboutChannel, type Channel } from "../src/core/settings/channels.ts";
import { ALL_ON } from "../src/core/settings/push.ts";

const channel: Channel = { id: "a", name: "Phone", service: "ntfy", address: "ntfy://…", settings: ALL_ON, last_sent: null, problem: "", retry_at: null };
const moment = (at: number): string => `at ${at}`;

describe("a channel in the list", () => {
  it("names the service and what was sent", () => {
    expect(aboutChannel(channel, moment)).toBe("ntfy (ntfy://…). Nothing sent yet.");
    expect(aboutChannel({ ...channel, name: "ntfy", last_sent: 5 }, moment)).toBe("ntfy://… Last sent at 5.");
  });

  it("says why a notice was not sent, and when it is sent again", () => {
    const failing = { ...channel, problem: "ntfy answered with status 503." };
    expect(aboutChannel(failing, moment)).toBe("ntfy (ntfy://…). The last notice was not sent. ntfy answered with status 503.");
    expect(aboutChannel({ ...failing, retry_at: 9 }, moment)).toContain("Next attempt at 9.");
  });
});
