/**
 * The page that draws diagrams: it runs in a sandboxed frame with an origin of its own and may request
 * nothing. The app sends a port, then sources; each is answered with the drawing as text, or an error.
 */
import mermaid from "mermaid";

/** The width of the box in which a diagram is laid out; the drawing is scaled when it is shown. */
const WIDTH = 900;

interface Drawing {
  readonly source: string;
  readonly dark: boolean;
}

let count = 0;

async function draw({ source, dark }: Drawing): Promise<{ svg: string; width: number; height: number }> {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    suppressErrorRendering: true,
    layout: "dagre",
    theme: dark ? "dark" : "default",
    darkMode: dark,
    fontFamily: "system-ui, sans-serif",
    // Text of the drawing itself: an image of HTML inside of SVG looks different in every browser.
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    maxTextSize: 20_000,
    maxEdges: 500,
    secure: ["secure", "securityLevel", "startOnLoad", "maxTextSize", "maxEdges", "suppressErrorRendering", "htmlLabels", "fontFamily", "themeCSS", "dompurifyConfig", "layout"],
  });
  const box = document.createElement("div");
  box.style.cssText = `position:absolute;inset:0 auto auto 0;width:${WIDTH}px`;
  document.body.append(box);
  try {
    const { svg: text } = await mermaid.render(`diagram-${(count += 1)}`, source, box);
    return picture(text);
  } finally {
    document.body.replaceChildren();
  }
}

/** The drawing with a size of its own, as an image needs it. */
function picture(text: string): { svg: string; width: number; height: number } {
  const page = new DOMParser().parseFromString(text, "text/html");
  const svg = page.querySelector("svg");
  if (!svg) throw new Error("there is no drawing");
  const { width, height } = svg.viewBox.baseVal;
  svg.setAttribute("width", String(width));
  svg.setAttribute("height", String(height));
  svg.style.maxWidth = "";
  return { svg: new XMLSerializer().serializeToString(svg), width, height };
}

addEventListener("message", ({ source, ports: [port] }) => {
  if (source !== parent || !port) return;
  port.onmessage = ({ data }: MessageEvent<Drawing>) => {
    draw(data).then(
      (made) => port.postMessage(made),
      (problem: unknown) => port.postMessage({ error: problem instanceof Error ? problem.message : String(problem) }),
    );
  };
  port.postMessage("ready");
});
