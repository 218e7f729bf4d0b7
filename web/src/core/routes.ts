/** Where somebody is, and the address that means it; so that reload and back work. Pure. */

/** The pages that stand beside sessions; what they show is further told by their query. */
export const PAGES = ["search", "usage", "devices", "settings", "keys", "help"] as const;

export type PageName = (typeof PAGES)[number];

export type Route =
  | { readonly page: "home" }
  | { readonly page: "inbox" }
  /** `item` is one to jump to. */
  | { readonly page: "session"; readonly id: string; readonly item?: string }
  | { readonly page: "log"; readonly id: string }
  /** `query` is what follows the question mark. */
  | { readonly page: PageName; readonly query: string };

/** The route that an address means; anything unknown is the beginning. */
export function routeOf(path: string, search = ""): Route {
  const query = search.replace(/^\?/, "");
  const session = /^\/s\/([\w-]+)(\/log)?$/.exec(path);
  if (session?.[1]) {
    const id = session[1];
    if (session[2]) return { page: "log", id };
    const item = parameter(query, "item");
    return item === "" ? { page: "session", id } : { page: "session", id, item };
  }
  if (path === "/inbox") return { page: "inbox" };
  const page = PAGES.find((one) => path === `/${one}`);
  return page ? { page, query } : { page: "home" };
}

export function pathOf(route: Route): string {
  switch (route.page) {
    case "home":
      return "/";
    case "inbox":
      return "/inbox";
    case "log":
      return `/s/${route.id}/log`;
    case "session":
      return `/s/${route.id}${route.item === undefined ? "" : `?${written({ item: route.item })}`}`;
    default:
      return `/${route.page}${route.query ? `?${route.query}` : ""}`;
  }
}

/** The session that a route is about; its document is followed there. */
export function sessionOf(route: Route): string | null {
  if (route.page === "session" || route.page === "log") return route.id;
  if (route.page === "settings" || route.page === "help") return parameter(route.query, "session") || null;
  return null;
}

/** One parameter of a query; empty if it is not there. */
export function parameter(query: string, name: string): string {
  for (const pair of query.split("&")) {
    const [key = "", value = ""] = pair.split("=", 2);
    if (key === name) return decoded(value);
  }
  return "";
}

/** A query of those values that are not empty, in their order. */
export function written(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
