/** Desktop notifications: the permission, the request for it, and showing a notification. */
import { below } from "../../browser/base_path.ts";
import { preferences } from "../../preferences.svelte.ts";
import type { Notice } from "./notification.ts";

export type Permission = "granted" | "denied" | "default" | "missing";

class Notifying {
  /** The browser's permission; `missing` if it has no notifications, for example on a plain HTTP address. */
  permission = $state<Permission>(current());

  /** Ask the browser, only in a click. True if notifications can be shown now. */
  async ask(): Promise<boolean> {
    if (this.permission === "missing") return false;
    if (this.permission === "default") this.permission = await Notification.requestPermission();
    if (this.permission === "granted") preferences.change({ notify: true });
    return this.permission === "granted";
  }

  /** Whether the server pushes to this browser, so that the page need not notify as well. */
  pushed = $state(false);

  get wanted(): boolean {
    if (this.pushed) return false;
    return preferences.notify && current() === "granted"; // The user may have granted it elsewhere.
  }

  /** Show a notification; a click brings this window to the front and calls `onclick`. */
  show(notice: Notice, onclick: () => void): void {
    if (!this.wanted) return;
    try {
      const shown = new Notification(notice.title, {
        body: notice.body,
        tag: notice.tag,
        icon: below("/icon-192.png"),
        silent: true, // The app has its own sound with its own switch.
      });
      shown.onclick = () => {
        window.focus();
        shown.close();
        onclick();
      };
    } catch {
      // A phone accepts them only from a service worker.
      void viaWorker(notice);
    }
  }

  /** The request was answered, here or on another device. */
  async withdraw(tags: ReadonlySet<string>): Promise<void> {
    const worker = await navigator.serviceWorker?.getRegistration();
    for (const notification of (await worker?.getNotifications()) ?? []) if (tags.has(notification.tag)) notification.close();
  }
}

async function viaWorker(notice: Notice): Promise<void> {
  const worker = await navigator.serviceWorker?.getRegistration();
  await worker?.showNotification(notice.title, {
    body: notice.body,
    tag: notice.tag,
    icon: below("/icon-192.png"),
    silent: true,
    data: { path: `/s/${notice.session}` },
  });
}

function current(): Permission {
  return "Notification" in globalThis ? Notification.permission : "missing";
}

export const notifying = new Notifying();
