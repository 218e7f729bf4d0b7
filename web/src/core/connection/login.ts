/**
 * The login of a device with a key: the server proves its identity first, then the device. Each side
 * signs the text that `server/access/proofs.py` defines. No message can be replayed.
 */
import { PROTOCOL } from "../../protocol/messages.ts";
import type { Challenge, Greet } from "../../protocol/messages.ts";

/** A key that this device shares with its server; the view stores it. */
export interface DeviceKey {
  readonly device: string;
  /** HMAC-SHA-256 of a text, as hexadecimal digits. */
  sign(text: string): Promise<string>;
}

export class Login {
  readonly greet: Greet;
  readonly #key: DeviceKey;
  readonly #host: string;

  /** One login over one socket: `nonce` is new, `host` is the origin of the page. */
  constructor(key: DeviceKey, host: string, nonce: string) {
    this.#key = key;
    this.#host = host.toLowerCase();
    this.greet = { type: "greet", protocol: PROTOCOL, device: key.device, nonce };
  }

  /** The device's proof for a server whose proof is valid; null for any other program. */
  async answer({ nonce, proof }: Challenge): Promise<string | null> {
    if (typeof nonce !== "string" || !/^[\w-]{16,128}$/.test(nonce)) return null;
    if (proof !== (await this.#key.sign(this.#text("server", nonce)))) return null;
    return this.#key.sign(this.#text("client", nonce));
  }

  #text(side: "server" | "client", serverNonce: string): string {
    const { device, nonce } = this.greet;
    return [`fairlead login ${PROTOCOL}`, side, this.#host, device, nonce, serverNonce].join("\n");
  }
}
