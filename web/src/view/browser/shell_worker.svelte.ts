/** The page's side of the service worker: starts it, checks for updates, and switches to new versions. */
import { below } from "./base_path.ts";
import { scriptAddress } from "./trusted.ts";

const SCRIPT = below("/sw.js");

class ShellWorker {
  /** Whether a newer version of the app is available: a reload uses it. */
  ready = $state(false);
  #registration: ServiceWorkerRegistration | null = null;

  /** Start the worker; only a built app has one, and only on a secure address. */
  async start(go: (path: string) => void): Promise<void> {
    if (!import.meta.env.PROD || !("serviceWorker" in navigator)) return;
    const workers = navigator.serviceWorker;
    let controlled = workers.controller !== null;
    // A new worker takes over at once; this page keeps its version until the user reloads it.
    workers.addEventListener("controllerchange", () => {
      this.ready = controlled; // The first worker ever is not newer than this page.
      controlled = true;
    });
    workers.addEventListener("message", (event: MessageEvent<{ go?: string }>) => {
      if (event.data?.go) go(event.data.go);
    });
    // Files that this version has not loaded yet are deleted with it.
    addEventListener("vite:preloadError", () => this.ready && location.reload());
    try {
      // Through the browser's cache: the browser checks for another worker when the app requests it,
      // or after a day, but not at each reload, when any program may answer.
      this.#registration = await workers.register(scriptAddress(SCRIPT), { updateViaCache: "all" });
    } catch {
      return; // The app works without a worker, but then not offline.
    }
  }

  /** Check whether the server has a newer version; only after it has proved its identity. */
  async look(): Promise<void> {
    try {
      await fetch(SCRIPT, { cache: "reload" });
      await this.#registration?.update();
    } catch {
      // The server is unreachable again.
    }
  }

  /** Use the new version by reloading the page. Drafts are stored. */
  takeOver(): void {
    location.reload();
  }
}

export const shellWorker = new ShellWorker();
