/** Channels of the server: chat services, mailboxes and web hooks that get notices. Pure. */
import type { PushSettings } from "./push.ts";

export interface Channel {
  readonly id: string;
  readonly name: string;
  readonly service: string;
  /** Only the scheme, such as `ntfy://…`: the address is a secret of the server. */
  readonly address: string;
  readonly settings: PushSettings;
  readonly last_sent: number | null;
  readonly problem: string;
  /** When a failed message is sent again; null if none is waiting. */
  readonly retry_at: number | null;
}

/** The answer of `GET /api/channels`. */
export interface ChannelList {
  readonly installed: boolean;
  /** The command that installs the optional package. */
  readonly install: string;
  readonly channels: readonly Channel[];
}

/** What the list says about a channel; `moment` writes a time. */
export function aboutChannel(channel: Channel, moment: (at: number) => string): string {
  const what = channel.name === channel.service ? channel.address : `${channel.service} (${channel.address}).`;
  if (!channel.problem) return channel.last_sent === null ? `${what} Nothing sent yet.` : `${what} Last sent ${moment(channel.last_sent)}.`;
  const again = channel.retry_at === null ? "" : ` Next attempt ${moment(channel.retry_at)}.`;
  return `${what} The last notice was not sent. ${channel.problem}${again}`;
}
