/**
 * The path below which the server serves the app: `/`, or a path such as `/fairlead/` behind a proxy.
 * The page names it. The rest of the app uses paths that begin with `/` and mean the app's own root.
 */

/** The path with a slash at both ends. */
export const BASE: string = globalThis.document?.documentElement.dataset["base"] ?? "/";

/** The path of the server for a path of the app. */
export function below(path: string): string {
  return BASE + path.slice(1);
}

/** The path of the app for a path of the server. */
export function inApp(path: string): string {
  return path.startsWith(BASE) ? path.slice(BASE.length - 1) : "/";
}

/** The name of something that the browser stores for this server: other paths of the origin may have servers too. */
export function storedName(name: string): string {
  return BASE === "/" ? name : `${name}@${BASE}`;
}
