/** Reports once when an element comes near the screen; one observer for the page. */

const NEAR = "600px";

const waiting = new Map<Element, () => void>();
let observer: IntersectionObserver | null = null;

/** Call `act` when the node comes near; returns a function that stops observing it. */
export function whenNear(node: Element, act: () => void): () => void {
  observer ??= new IntersectionObserver(came, { rootMargin: NEAR });
  waiting.set(node, act);
  observer.observe(node);
  return () => forget(node);
}

function came(entries: readonly IntersectionObserverEntry[]): void {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    waiting.get(target)?.();
    forget(target);
  }
}

function forget(node: Element): void {
  waiting.delete(node);
  observer?.unobserve(node);
}
