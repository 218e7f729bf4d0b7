/** Push messages to this browser: subscribes with the browser, and gives the server the subscription. */
import { ALL_ON, type PushSettings, type PushState } from "../../core/settings/push.ts";
import type { App } from "../app.svelte.ts";
import { notifying } from "../decisions/alerts/notifying.svelte.ts";
import { ask, tell } from "../pages/asking.ts";

class Push {
  /** The server's state for this device; null until it is loaded. */
  state = $state<PushState | null>(null);

  get supported(): boolean {
    return "serviceWorker" in navigator && "PushManager" in globalThis && "Notification" in globalThis;
  }

  get on(): boolean {
    return this.state?.settings != null;
  }

  /** Load the state, and repair a subscription that the browser has replaced. */
  async load(app: App): Promise<void> {
    if (!this.supported) return;
    this.#take(await ask<PushState>(app, "/api/push"));
    if (!this.on || Notification.permission !== "granted") return;
    const own = await (await registered())?.pushManager.getSubscription();
    if (own?.endpoint !== this.state?.endpoint) await this.turnOn(app, this.state?.settings ?? ALL_ON);
  }

  /** Subscribe; only from within a click, because the browser asks the user. Throws what to say. */
  async turnOn(app: App, settings: PushSettings = ALL_ON): Promise<void> {
    if ((await Notification.requestPermission()) !== "granted") throw new Error("The browser blocks notifications for this address. Allow them in its settings first.");
    const worker = await registered();
    if (!worker) throw new Error("Push needs the installed app files. Reload the page and try again.");
    const key = this.state?.key ?? (await ask<PushState>(app, "/api/push")).key;
    const subscription = await subscribed(worker, key);
    const { endpoint, keys } = subscription.toJSON();
    await tell(app, "/api/push", { endpoint, p256dh: keys?.["p256dh"], auth: keys?.["auth"], settings });
    this.#take(await ask<PushState>(app, "/api/push"));
  }

  async turnOff(app: App): Promise<void> {
    await tell(app, "/api/push/remove", {});
    await (await (await registered())?.pushManager.getSubscription())?.unsubscribe();
    this.#take(await ask<PushState>(app, "/api/push"));
  }

  async change(app: App, settings: PushSettings): Promise<void> {
    await tell(app, "/api/push/settings", settings);
    this.#take(await ask<PushState>(app, "/api/push"));
  }

  #take(state: PushState): void {
    this.state = state;
    notifying.pushed = state.settings !== null;
  }
}

async function registered(): Promise<ServiceWorkerRegistration | undefined> {
  return navigator.serviceWorker.getRegistration();
}

/** A subscription for the server's key; one for another key cannot be used, so it is replaced. */
async function subscribed(worker: ServiceWorkerRegistration, key: string): Promise<PushSubscription> {
  const wanted = { userVisibleOnly: true, applicationServerKey: key };
  try {
    return await worker.pushManager.subscribe(wanted);
  } catch (problem) {
    const old = await worker.pushManager.getSubscription();
    if (!old) throw new Error(`The browser could not subscribe: ${problem instanceof Error ? problem.message : String(problem)}`);
    await old.unsubscribe();
    return worker.pushManager.subscribe(wanted);
  }
}

export const push = new Push();
