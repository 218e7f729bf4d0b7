/**
 * The service worker: keeps the app's own files, so that the page opens without a server and what
 * was read before can be read again. It keeps nothing that anybody wrote or answered: calls of the
 * API and sockets pass by it. `SHELL` is put in by the build; another build is another version.
 */
declare const self: ServiceWorkerGlobalScope;
declare const SHELL: { readonly version: string; readonly files: readonly string[] };

const NAME = "fairlead-shell-";
const CACHE = `${NAME}${SHELL.version}`;
const PAGE = "/";
const PATIENCE_MS = 4_000;
/** How long a page may take; a server that does not answer is as good as none. */

self.addEventListener("install", (event) => event.waitUntil(keepShell()));
self.addEventListener("activate", (event) => event.waitUntil(tidy()));
self.addEventListener("message", (event) => {
  if (event.data === "take over") void self.skipWaiting();
});
self.addEventListener("fetch", (event) => {
  const answer = answerTo(event.request);
  if (answer) event.respondWith(answer);
});
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(show((event.notification.data as { path?: string } | null)?.path ?? PAGE));
});

async function keepShell(): Promise<void> {
  const cache = await caches.open(CACHE);
  await cache.addAll([PAGE, ...SHELL.files].map((path) => new Request(path, { cache: "reload" })));
  // The first one ever has nobody to take over from.
  if (!self.registration.active) await self.skipWaiting();
}

async function tidy(): Promise<void> {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(NAME) && name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
  await self.clients.claim();
}

/** What to answer, or nothing if the request is none of our business. */
function answerTo(request: Request): Promise<Response> | null {
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== self.location.origin) return null;
  if (/^\/(api|ws|bridge)(\/|$)/.test(pathname)) return null;
  if (request.mode === "navigate") return page(request);
  return pathname.startsWith("/assets/") ? asset(request) : other(request);
}

/** The page as the server has it now; without one the page that was kept. */
async function page(request: Request): Promise<Response> {
  try {
    const answer = await fetch(request, { signal: AbortSignal.timeout(PATIENCE_MS) });
    if (answer.status < 500) return answer;
  } catch {
    // No server, or none that answers.
  }
  return (await kept(PAGE)) ?? Response.error();
}

/** A file with a hash in its name never changes: once kept, it is not asked for again. */
async function asset(request: Request): Promise<Response> {
  const found = await kept(request);
  if (found) return found;
  const answer = await fetch(request);
  if (answer.ok) {
    const copy = answer.clone();
    void caches.open(CACHE).then((cache) => cache.put(request, copy));
  }
  return answer;
}

async function other(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch {
    return (await kept(request)) ?? Response.error();
  }
}

async function kept(request: Request | string): Promise<Response | undefined> {
  return (await caches.open(CACHE)).match(request);
}

/** Bring a window of the app to the front and to a path, or open one. */
async function show(path: string): Promise<void> {
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const first = windows[0];
  if (!first) return void (await self.clients.openWindow(path));
  first.postMessage({ go: path });
  await first.focus();
}
