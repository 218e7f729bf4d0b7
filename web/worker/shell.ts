/**
 * The service worker: keeps the app's own files, so that the page opens without a server and what
 * was read before can be read again. It keeps nothing that anybody wrote or answered: calls of the
 * API and sockets pass by it. The build appends `notifications.ts` to this file.
 *
 * Another program may listen at our address while the server is down, and what it serves runs as our
 * page does: it can write to the cache. So every file is compared with the hash that the build put
 * into this script (`SHELL`), and the page itself comes from the cache, never from the network.
 */
declare const self: ServiceWorkerGlobalScope;
/** The path below which the server serves the app; the server writes it into this script. */
declare const BASE: string;
declare const SHELL: {
  readonly version: string;
  /** SHA-256 of the page, in base64. */
  readonly page: string;
  /** The same of each file, by its path below `BASE`, with a slash in front. */
  readonly files: Readonly<Record<string, string>>;
  /** Files that are kept before they are asked for. */
  readonly first: readonly string[];
};

const NAME = `fairlead-shell${BASE}`;
const EARLIER = "fairlead-shell-";
/** Earlier builds named their caches without a path. */
const CACHE = `${NAME}${SHELL.version}`;
const PAGE = "/";
/** The page for diagrams has an origin of its own, and is not part of the shell. */
const DIAGRAM = "/diagram.html";

self.addEventListener("install", (event) => event.waitUntil(keepShell()));
self.addEventListener("activate", (event) => event.waitUntil(tidy()));
self.addEventListener("fetch", (event) => {
  const answer = answerTo(event.request);
  if (answer) event.respondWith(answer);
});

async function keepShell(): Promise<void> {
  const cache = await caches.open(CACHE);
  await cache.addAll([PAGE, ...SHELL.first].map(fromServer));
  // At once: the worker before this one may be another program's, which would never let it.
  await self.skipWaiting();
}

async function tidy(): Promise<void> {
  const names = await caches.keys();
  const old = names.filter((name) => (isOwn(name) && name !== CACHE) || name.startsWith(EARLIER));
  await Promise.all(old.map((name) => caches.delete(name)));
  await self.clients.claim();
}

/** Whether a cache belongs to this server, and not to one below another path. */
function isOwn(name: string): boolean {
  return name.startsWith(NAME) && !name.slice(NAME.length).includes("/");
}

/** What to answer, or nothing if the request is none of our business. */
function answerTo(request: Request): Promise<Response> | null {
  const { origin, pathname: full } = new URL(request.url);
  if (request.method !== "GET" || origin !== self.location.origin || !full.startsWith(BASE)) return null;
  const pathname = full.slice(BASE.length - 1);
  if (/^\/(api|ws|bridge)(\/|$)/.test(pathname) || pathname === DIAGRAM) return null;
  if (request.mode === "navigate") return own(PAGE, request);
  return pathname in SHELL.files ? own(pathname, request) : null;
}

/** A file of this build: from the cache, or from the server, and only with the right hash. */
async function own(path: string, request: Request): Promise<Response> {
  const cache = await caches.open(CACHE);
  const found = await cache.match(below(path));
  const good = found && (await checked(found, path));
  if (good) return good;
  try {
    const fresh = await fetch(fromServer(path));
    if (fresh.ok) await cache.put(below(path), fresh.clone());
    return fresh;
  } catch {
    // No server, another program, or a newer build whose page brings its own worker.
    return path === PAGE ? fetch(request) : Response.error();
  }
}

/** The answer if it has the hash of the build; null if anybody changed it. */
async function checked(answer: Response, path: string): Promise<Response | null> {
  const bytes = await answer.arrayBuffer();
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  if (btoa(String.fromCharCode(...hash)) !== hashOf(path)) return null;
  return new Response(bytes, { status: 200, headers: answer.headers });
}

/** A request that the browser answers only with the right bytes, past its own cache. */
function fromServer(path: string): Request {
  return new Request(below(path), { cache: "reload", integrity: `sha256-${hashOf(path)}` });
}

/** The path of the server for a path of the app. */
function below(path: string): string {
  return BASE + path.slice(1);
}

function hashOf(path: string): string {
  return path === PAGE ? SHELL.page : (SHELL.files[path] ?? "");
}
