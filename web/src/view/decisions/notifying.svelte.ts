/** Notifications of the system: whether they may be shown, asking for it, and showing one. */
import { preferences } from "../preferences.svelte.ts";
import type { Notice } from "./notification.ts";

export type Permission = "granted" | "denied" | "default" | "missing";

class Notifying {
  /** What the browser says; `missing` where it has none, as on a plain-http address. */
  permission = $state<Permission>(current());

  /** Ask the browser; only ever from within a click. True if notifications may be shown now. */
  async ask(): Promise<boolean> {
    if (this.permission === "missing") return false;
    if (this.permission === "default") this.permission = await Notification.requestPermission();
    if (this.permission === "granted") preferences.change({ notify: true });
    return this.permission === "granted";
  }

  get wanted(): boolean {
    return preferences.notify && current() === "granted"; // It may have been asked for elsewhere.
  }

  /** Show one; a click brings this window to the front and is told. */
  show(notice: Notice, onclick: () => void): void {
    if (!this.wanted) return;
    try {
      const shown = new Notification(notice.title, {
        body: notice.body,
        tag: notice.tag,
        icon: "/icon-192.png",
        silent: true, // The sound is ours, and has a switch of its own.
      });
      shown.onclick = () => {
        window.focus();
        shown.close();
        onclick();
      };
    } catch {
      // A phone takes them only from a service worker.
      void viaWorker(notice);
    }
  }

  /** It was answered, here or elsewhere: nothing waits there any more. */
  async withdraw(tags: ReadonlySet<string>): Promise<void> {
    const worker = await navigator.serviceWorker?.getRegistration();
    for (const one of (await worker?.getNotifications()) ?? []) if (tags.has(one.tag)) one.close();
  }
}

async function viaWorker(notice: Notice): Promise<void> {
  const worker = await navigator.serviceWorker?.getRegistration();
  await worker?.showNotification(notice.title, {
    body: notice.body,
    tag: notice.tag,
    icon: "/icon-192.png",
    silent: true,
    data: { path: `/s/${notice.session}` },
  });
}

function current(): Permission {
  return "Notification" in globalThis ? Notification.permission : "missing";
}

export const notifying = new Notifying();
