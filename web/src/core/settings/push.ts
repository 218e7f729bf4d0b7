/** The push settings of this device: their values, as the server has them, and how they are read. Pure. */

export interface Quiet {
  /** Minutes of the day. */
  readonly start: number;
  readonly end: number;
  readonly zone: string;
}

export interface PushSettings {
  readonly kinds: readonly string[];
  readonly detail: string;
  readonly quiet: Quiet | null;
}

/** The answer of `GET /api/push`. */
export interface PushState {
  /** The server's public key. */
  readonly key: string;
  readonly endpoint: string | null;
  readonly settings: PushSettings | null;
  readonly last_sent: number | null;
  readonly problem: string;
}

export const KINDS: readonly { readonly kind: string; readonly label: string }[] = [
  { kind: "approval", label: "Approvals" },
  { kind: "question", label: "Questions" },
  { kind: "plan", label: "Plans" },
  { kind: "finished", label: "Finished" },
  { kind: "failed", label: "Failed" },
  { kind: "limit", label: "Limit reached" },
  { kind: "budget", label: "Budget reached" },
];

export const ALL_ON: PushSettings = { kinds: KINDS.map(({ kind }) => kind), detail: "kind", quiet: null };

/** The settings with one kind turned on or off. */
export function withKind(settings: PushSettings, kind: string, on: boolean): PushSettings {
  const kinds = KINDS.map((each) => each.kind).filter((each) => (each === kind ? on : settings.kinds.includes(each)));
  return { ...settings, kinds };
}

/** A minute of the day as a time field has it, such as 07:30. */
export function timeOf(minute: number): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${two(Math.floor(minute / 60))}:${two(minute % 60)}`;
}

/** The minute of the day of a time field; null if it is empty. */
export function minuteOf(time: string): number | null {
  const found = /^(\d{2}):(\d{2})/.exec(time);
  return found === null ? null : Number(found[1]) * 60 + Number(found[2]);
}
