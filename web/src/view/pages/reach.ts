/** Where another device could open this server. Pure. */

/** What `/api/reach` tells. */
export interface Reach {
  readonly listens: "loopback" | "named" | "unnamed";
  readonly port: number;
  readonly secure: boolean;
  readonly addresses: readonly string[];
}

/**
 * The addresses to put into a link, the best first: the one this page itself was opened by, if it is
 * not this machine's own (a tunnel or a proxy may lead here), then those the server goes by.
 */
export function bestAddresses(reach: Reach, here: { readonly origin: string; readonly hostname: string }): readonly string[] {
  const own = isLoopback(here.hostname) ? [] : [here.origin];
  return [...new Set([...own, ...reach.addresses])];
}

function isLoopback(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") || name === "[::1]" || /^127\./.test(name);
}
