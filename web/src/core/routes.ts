/** The current page and its address, so that reload and back work. Pure. */

/** The pages besides sessions; their query selects what they show. */
export const PAGES = ["board", "sessions", "search", "usage", "machines", "devices", "settings", "keys", "help"] as const;

export type PageName = (typeof PAGES)[number];

/** The pages of one session about its files; their query selects what they show. */
const WORK_PAGES = ["changes", "git", "files", "terminal"] as const;

export type WorkPage = (typeof WORK_PAGES)[number];

export type Route =
  | { readonly page: "home" }
  | { readonly page: "inbox" }
  /** `item` is an item to scroll to. */
  | { readonly page: "session"; readonly id: string; readonly item?: string }
  | { readonly page: "log"; readonly id: string }
  | { readonly page: WorkPage; readonly id: string; readonly query: string }
  | { readonly page: "play"; readonly id: string }
  | { readonly page: "compare"; readonly query: string }
  /** `query` is the part after the question mark. */
  | { readonly page: PageName; readonly query: string };

/** The route of an address; an unknown address is the home page. */
export function routeOf(path: string, search = ""): Route {
  const query = search.replace(/^\?/, "");
  const session = /^\/s\/([\w-]+)(?:\/(\w+))?$/.exec(path);
  if (session?.[1]) {
    const id = session[1];
    const work = WORK_PAGES.find((name) => name === session[2]);
    if (work) return { page: work, id, query };
    if (session[2] === "log" || session[2] === "play") return { page: session[2], id };
    if (session[2] !== undefined) return { page: "home" };
    const item = parameter(query, "item");
    return item === "" ? { page: "session", id } : { page: "session", id, item };
  }
  if (path === "/inbox") return { page: "inbox" };
  if (path === "/compare") return { page: "compare", query };
  const page = PAGES.find((name) => path === `/${name}`);
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
    case "play":
      return `/s/${route.id}/play`;
    case "changes":
    case "git":
    case "files":
    case "terminal":
      return `/s/${route.id}/${route.page}${route.query ? `?${route.query}` : ""}`;
    case "session":
      return `/s/${route.id}${route.item === undefined ? "" : `?${written({ item: route.item })}`}`;
    default:
      return `/${route.page}${route.query ? `?${route.query}` : ""}`;
  }
}

/** The session of a route, whose document is followed there. */
export function sessionOf(route: Route): string | null {
  if ("id" in route) return route.id;
  if (route.page === "settings" || route.page === "help") return parameter(route.query, "session") || null;
  return null;
}

/** One parameter of a query; empty if it is missing. */
export function parameter(query: string, name: string): string {
  for (const pair of query.split("&")) {
    const [key = "", value = ""] = pair.split("=", 2);
    if (key === name) return decoded(value);
  }
  return "";
}

/** A query of the values that are not empty, in their order. */
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
