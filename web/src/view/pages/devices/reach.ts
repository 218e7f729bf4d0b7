/** The addresses at which another device can open this server. Pure. */

/** The response of `/api/reach`. */
export interface Reach {
  readonly listens: "loopback" | "named" | "unnamed";
  readonly port: number;
  readonly secure: boolean;
  readonly addresses: readonly string[];
}

/**
 * The addresses for a link, the best first: the one that this page was opened with, if it is
 * not a loopback address (it may be a tunnel or a proxy), then the names of the server.
 */
export function bestAddresses(reach: Reach, here: { readonly origin: string; readonly hostname: string }): readonly string[] {
  const own = isLoopback(here.hostname) ? [] : [here.origin];
  return [...new Set([...own, ...reach.addresses])];
}

function isLoopback(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") || name === "[::1]" || /^127\./.test(name);
}
