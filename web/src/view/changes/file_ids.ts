/** Ids of files: not every file name can stand in an address. Pure. */

/** The id that the server gives a path. */
export function fileId(path: string): string {
  const bytes = Array.from(new TextEncoder().encode(path), (byte) => String.fromCharCode(byte)).join("");
  return btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
