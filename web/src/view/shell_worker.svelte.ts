/** The service worker from the page's side: started, asked for news, and told to take over. */
import { scriptAddress } from "./trusted.ts";

const EVERY_MS = 60 * 60 * 1000;

class ShellWorker {
  /** Whether a newer version of the app is there and waits. */
  ready = $state(false);
  #registration: ServiceWorkerRegistration | null = null;
  #taking = false;

  /** Start it; only a built app has one, and only a secure address may. */
  async start(go: (path: string) => void): Promise<void> {
    if (!import.meta.env.PROD || !("serviceWorker" in navigator)) return;
    const workers = navigator.serviceWorker;
    workers.addEventListener("controllerchange", () => this.#taking && location.reload());
    workers.addEventListener("message", (event: MessageEvent<{ go?: string }>) => {
      if (event.data?.go) go(event.data.go);
    });
    try {
      this.#registration = await workers.register(scriptAddress("/sw.js"));
    } catch {
      return; // The app works without it, only not without a server.
    }
    this.#watch(this.#registration);
    setInterval(() => this.look(), EVERY_MS);
  }

  /** See whether the server has a newer version, as after it was started anew. */
  look(): void {
    void this.#registration?.update().catch(() => undefined);
  }

  /** Use the new version: the page is loaded anew. What was typed is kept. */
  takeOver(): void {
    this.#taking = true;
    const waiting = this.#registration?.waiting;
    if (waiting) waiting.postMessage("take over");
    else location.reload();
  }

  #watch(registration: ServiceWorkerRegistration): void {
    const settled = (): void => {
      // Without a controller this is the first one ever, and there is nothing newer than it.
      this.ready = registration.waiting !== null && navigator.serviceWorker.controller !== null;
    };
    settled();
    registration.addEventListener("updatefound", () => {
      registration.installing?.addEventListener("statechange", settled);
    });
  }
}

export const shellWorker = new ShellWorker();
