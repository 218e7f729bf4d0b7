/**
 * Notifications: the service worker shows what the server pushes, and does what their buttons say.
 *
 * There is one notification for each session; a newer one replaces it. The server repeats a message
 * if it was killed before it knew that the message had arrived, so the number of the last message of
 * each session is kept, and a message is shown once. "Deny" sends the ticket of the message; nothing
 * here can allow anything (T-18).
 */
declare const self: ServiceWorkerGlobalScope;

/** A message of the server, as it was decrypted by the browser. */
interface Pushed {
  readonly id: number;
  readonly session: string;
  readonly kind: string;
  readonly title: string;
  readonly body: string;
  readonly resets_at?: number;
  /** Denies the request if it is sent back. */
  readonly deny?: string;
}

interface Shown {
  readonly path: string;
  readonly deny?: string;
}

const NUMBERS = "fairlead-notices";
const MOST_NUMBERS = 200;
const ICON = addressOf("/icon-192.png");

self.addEventListener("push", (event) => event.waitUntil(notify(event.data)));
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const shown = (event.notification.data as Shown | null) ?? { path: "/" };
  event.waitUntil(event.action === "deny" && shown.deny ? deny(shown, event.notification) : show(shown.path));
});

async function notify(data: PushMessageData | null): Promise<void> {
  const pushed = read(data);
  if (pushed === null) return self.registration.showNotification("Fairlead", { body: "Open Fairlead to see what happened.", icon: ICON });
  if (pushed.kind !== "test") {
    if (!(await isNew(pushed))) return;
    // The page shows it itself.
    const windows = await self.clients.matchAll({ type: "window" });
    if (windows.some((client) => client.focused)) return;
  }
  const shown: Shown = { path: pushed.session ? `/s/${pushed.session}` : "/", ...(pushed.deny ? { deny: pushed.deny } : {}) };
  const actions = pushed.deny ? [{ action: "deny", title: "Deny" }, { action: "review", title: "Review" }] : [];
  await self.registration.showNotification(pushed.title, {
    body: bodyOf(pushed),
    tag: `session:${pushed.session}`,
    icon: ICON,
    data: shown,
    ...{ actions, renotify: true, timestamp: Date.now() },
  });
}

function read(data: PushMessageData | null): Pushed | null {
  try {
    const pushed = data?.json() as Partial<Pushed> | null;
    const whole = typeof pushed?.id === "number" && [pushed.session, pushed.kind, pushed.title, pushed.body].every((text) => typeof text === "string");
    return whole ? (pushed as Pushed) : null;
  } catch {
    return null;
  }
}

function bodyOf(pushed: Pushed): string {
  if (typeof pushed.resets_at !== "number") return pushed.body;
  const at = new Date(pushed.resets_at * 1000).toLocaleString([], { weekday: "short", hour: "2-digit", minute: "2-digit" });
  return `${pushed.body} It resets ${at}.`;
}

/** Whether a message is newer than the last one of its session; notes its number. */
async function isNew({ id, session }: Pushed): Promise<boolean> {
  const numbers = await caches.open(NUMBERS);
  const key = addressOf(`/notices/${encodeURIComponent(session)}`);
  const last = await numbers.match(key);
  if (last && Number(await last.text()) >= id) return false;
  await numbers.delete(key); // So that the oldest come first.
  await numbers.put(key, new Response(String(id)));
  const all = await numbers.keys();
  await Promise.all(all.slice(0, Math.max(0, all.length - MOST_NUMBERS)).map((old) => numbers.delete(old)));
  return true;
}

/** Deny the request; if that fails, say why. */
async function deny(shown: Shown, notification: Notification): Promise<void> {
  let problem = "The server cannot be reached.";
  try {
    const response = await fetch(addressOf("/api/push/deny"), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ticket: shown.deny }),
    });
    if (response.ok) return;
    problem = ((await response.json()) as { readonly message?: string }).message ?? problem;
  } catch {
    // The problem is said below.
  }
  await self.registration.showNotification(notification.title, { body: `Not denied. ${problem}`, tag: notification.tag, icon: ICON, data: { path: shown.path } });
}

/** Bring a window of the app to the front and to a path, or open one. */
async function show(path: string): Promise<void> {
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const first = windows.find((client) => client.url.startsWith(self.registration.scope));
  if (!first) return void (await self.clients.openWindow(addressOf(path)));
  first.postMessage({ go: path });
  await first.focus();
}

/** The address of a path of the app, which may be served below a path. */
function addressOf(path: string): string {
  return new URL(path.slice(1), self.registration.scope).href;
}
