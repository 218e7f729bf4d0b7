/**
 * Draws Mermaid diagrams in a frame of their own and gets them back as pictures. The frame is the page
 * `diagram.html` in a sandbox: it has an origin of its own, can request nothing and cannot reach this
 * page. It is loaded for the first diagram. What it returns is only ever shown as an image, in which
 * the browser runs no script, follows no link and loads nothing.
 */
import { below } from "../browser/base_path.ts";

export interface Picture {
  readonly svg: string;
  readonly width: number;
  readonly height: number;
}

const LONGEST = 20_000;
const LONGEST_SVG = 3_000_000;
/** How long a diagram may take; after that the frame is removed, with everything it does. */
const DRAW_MS = 10_000;
const LOAD_MS = 60_000;
/** Without work the frame is removed after this time. */
const IDLE_MS = 60_000;

let frame: Promise<Frame> | null = null;
let last: Promise<unknown> = Promise.resolve();
let idle: ReturnType<typeof setTimeout> | undefined;
const drawn = new Map<string, Picture>();
const MOST_KEPT = 100;

/** Whether diagrams can be drawn here. */
export const DRAWS = true;

/** The picture of a diagram; rejects with the reason if there is none. Diagrams are drawn one by one. */
export function drawDiagram(source: string, dark: boolean): Promise<Picture> {
  if (source.length > LONGEST) return Promise.reject(new Error("the diagram is too long"));
  const key = `${dark ? "dark" : "light"} ${source}`;
  const known = drawn.get(key);
  if (known) return Promise.resolve(known);
  const picture = last.then(() => drawNow(source, dark));
  last = picture.catch(() => null);
  return picture.then((made) => {
    if (drawn.size >= MOST_KEPT) drawn.clear();
    drawn.set(key, made);
    return made;
  });
}

async function drawNow(source: string, dark: boolean): Promise<Picture> {
  clearTimeout(idle);
  frame ??= Frame.load();
  const used = await frame.catch((problem: unknown) => {
    frame = null;
    throw problem;
  });
  try {
    return checked(await used.ask({ source, dark }));
  } catch (problem) {
    if (problem instanceof TooLate) close(used);
    throw problem;
  } finally {
    idle = setTimeout(() => close(used), IDLE_MS);
  }
}

function close(used: Frame): void {
  used.remove();
  frame = null;
}

/** What came from the frame, which may be anything. */
function checked(answer: unknown): Picture {
  const { svg, width, height, error } = (answer ?? {}) as Record<string, unknown>;
  if (typeof error === "string") throw new Error(error.slice(0, 500));
  const size = (value: unknown): number => Math.min(10_000, Math.max(1, Number(value) || 1));
  if (typeof svg !== "string" || svg.length > LONGEST_SVG) throw new Error("the drawing is too large");
  return { svg, width: size(width), height: size(height) };
}

class TooLate extends Error {}

class Frame {
  readonly #node: HTMLIFrameElement;
  readonly #port: MessagePort;

  private constructor(node: HTMLIFrameElement, port: MessagePort) {
    this.#node = node;
    this.#port = port;
  }

  static async load(): Promise<Frame> {
    const node = document.createElement("iframe");
    node.setAttribute("sandbox", "allow-scripts");
    node.setAttribute("aria-hidden", "true");
    node.tabIndex = -1;
    node.title = "Diagrams";
    // In view, because browsers slow down frames that are not, and without any effect on the page.
    node.style.cssText = "position:fixed;inset-block-start:0;inset-inline-start:0;width:1px;height:1px;border:0;opacity:0;pointer-events:none";
    const { port1, port2 } = new MessageChannel();
    const ready = within(LOAD_MS, new Promise<void>((done) => {
      port1.onmessage = () => done();
      // To any origin: that of a sandbox has no name. The page in it is ours.
      node.onload = () => node.contentWindow?.postMessage("draw", "*", [port2]);
    }));
    node.src = below("/diagram.html");
    document.body.append(node);
    try {
      await ready;
    } catch (problem) {
      node.remove();
      throw problem;
    }
    return new Frame(node, port1);
  }

  ask(request: { readonly source: string; readonly dark: boolean }): Promise<unknown> {
    return within(DRAW_MS, new Promise((done) => {
      this.#port.onmessage = ({ data }: MessageEvent<unknown>) => done(data);
      this.#port.postMessage(request);
    }));
  }

  remove(): void {
    this.#port.close();
    this.#node.remove();
  }
}

function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new TooLate("drawing took too long")), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
