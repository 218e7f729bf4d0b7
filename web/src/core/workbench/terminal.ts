/**
 * One terminal as a client follows it: offsets, acknowledgments, and what may be typed when. Knows
 * neither the socket nor how the terminal is drawn.
 */
import type {
  TerminalAck,
  TerminalAttach,
  TerminalDetach,
  TerminalInput,
  TerminalList,
  TerminalOutput,
  TerminalSize,
  Terminals,
} from "../../protocol/messages.ts";

export type ToTerminal = TerminalAck | TerminalAttach | TerminalDetach | TerminalInput | TerminalList | TerminalSize;

/** A page that follows terminals. */
export interface TerminalEvents {
  /** There is a connection, a new one or the first: the server knows nothing of this page yet. */
  online(): void;
  received(message: Terminals | TerminalOutput): void;
}

/** Draws a terminal. */
export interface Drawing {
  /** Draw bytes; `drawn` is called once that is done. */
  write(bytes: Uint8Array, drawn: () => void): void;
  /** Start with an empty screen, because so many bytes of the output are no longer stored. */
  restart(lost: number): void;
}

/** Drawn bytes that are acknowledged together; half of what the server sends without an ack. */
const ACK_BYTES = 64 * 1024;

/** Characters that are sent at once; more is hardly meant, and the server refuses it. */
export const MOST_TYPED = 200_000;

export class FollowedTerminal {
  /** The offset after the last byte that was received, and the last that was acknowledged. */
  #end = 0;
  #acked = 0;
  /** Old pieces that are being drawn. */
  #replaying = 0;
  readonly id: string;
  readonly #tell: (message: ToTerminal) => boolean;
  readonly #drawing: Drawing;

  constructor(id: string, tell: (message: ToTerminal) => boolean, drawing: Drawing) {
    this.id = id;
    this.#tell = tell;
    this.#drawing = drawing;
  }

  /** Get the output from where this page is, at first from the start. */
  attach(): void {
    this.#acked = this.#end;
    this.#tell({ type: "terminal_attach", terminal: this.id, offset: this.#end });
  }

  detach(): void {
    this.#tell({ type: "terminal_detach", terminal: this.id });
  }

  received(piece: TerminalOutput): void {
    if (piece.lost > 0) this.#drawing.restart(piece.lost);
    const bytes = bytesOf(piece.data);
    const end = piece.offset + bytes.length;
    this.#end = end;
    if (piece.replay) this.#replaying += 1;
    this.#drawing.write(bytes, () => {
      if (piece.replay) this.#replaying -= 1;
      this.#drawn(end);
    });
  }

  #drawn(end: number): void {
    if (end - this.#acked < ACK_BYTES) return;
    this.#acked = end;
    this.#tell({ type: "terminal_ack", terminal: this.id, offset: end });
  }

  /**
   * Send what was typed; false if it was not sent. While old output is drawn, a terminal answers the
   * requests in it once more, and those answers must not be typed into the shell.
   */
  type(data: string): boolean {
    if (this.#replaying > 0) return true;
    return data.length <= MOST_TYPED && this.#tell({ type: "terminal_input", terminal: this.id, data });
  }

  resize(cols: number, rows: number): void {
    this.#tell({ type: "terminal_size", terminal: this.id, cols, rows });
  }
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/** The value of each digit of Base64, by its character code. */
const VALUES = new Uint8Array(128);
for (let value = 0; value < DIGITS.length; value += 1) VALUES[DIGITS.charCodeAt(value)] = value;

/** The bytes of a text in Base64. The core has no `atob`, which is part of the DOM. */
export function bytesOf(data: string): Uint8Array {
  const padding = data.indexOf("=");
  const length = padding < 0 ? data.length : padding;
  const bytes = new Uint8Array(Math.floor((length * 3) / 4));
  let held = 0;
  let bits = 0;
  let at = 0;
  for (let digit = 0; digit < length; digit += 1) {
    held = ((held << 6) | (VALUES[data.charCodeAt(digit) & 127] ?? 0)) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at++] = (held >> bits) & 0xff;
  }
  return bytes;
}

/** How a shell ended, as a sentence. */
export function endingOf(code: number | null): string {
  if (code === null) return "Shell ended.";
  return code < 0 ? `Shell was ended by signal ${-code}.` : `Shell ended with code ${code}.`;
}

/** The keys of the row for screens without a keyboard. */
export const SCREEN_KEYS = ["Esc", "Tab", "Ctrl", "Left", "Down", "Up", "Right"] as const;
export type ScreenKey = (typeof SCREEN_KEYS)[number];

const ARROWS: Readonly<Partial<Record<ScreenKey, string>>> = { Up: "A", Down: "B", Right: "C", Left: "D" };

/** What a key sends; programs choose between two forms of arrows. Empty for Ctrl. */
export function keyText(key: ScreenKey, application: boolean): string {
  if (key === "Esc") return "\x1b";
  if (key === "Tab") return "\t";
  const arrow = ARROWS[key];
  return arrow === undefined ? "" : `\x1b${application ? "O" : "["}${arrow}`;
}

/** What Ctrl makes of a typed character; other texts stay as they are. */
export function withCtrl(data: string): string {
  if (data === " ") return "\x00";
  if (data === "?") return "\x7f";
  const code = data.length === 1 ? data.toUpperCase().charCodeAt(0) : 0;
  return code >= 0x40 && code <= 0x5f ? String.fromCharCode(code & 0x1f) : data;
}
