/**
 * Builds the page that draws diagrams as one file: a frame with an origin of its own cannot load a
 * second one from this server. Parts of Mermaid that are large and rarely used are left out.
 */
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";
import { inside } from "./vite.inside.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Another layout engine of 1.6 MB, and formulas in labels, whose fonts an image could not load. */
const LEFT_OUT: ReadonlySet<string> = new Set(["elkjs/lib/elk.bundled.js", "katex"]);

function without(): Plugin {
  return {
    name: "fairlead-without",
    enforce: "pre",
    resolveId: (source) => (LEFT_OUT.has(source) ? here("./src/diagram/left_out.ts") : null),
  };
}

export default defineConfig({
  plugins: [without(), inside("diagram.html")],
  base: "./",
  publicDir: false,
  build: {
    outDir: "../src/fairlead/server/static",
    emptyOutDir: false,
    target: "es2023",
    chunkSizeWarningLimit: 10_000,
    modulePreload: false,
    rolldownOptions: { input: here("./diagram.html"), output: { codeSplitting: false } },
  },
});
