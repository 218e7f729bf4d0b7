/** Builds the page of exported sessions as one file with everything inside: scripts, styles, fonts. */
import { fileURLToPath } from "node:url";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin } from "vite";
import { inside } from "./vite.inside.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Code is colored in the page: a worker would need a second file. Nothing else is drawn in it. */
const INSTEAD: readonly (readonly [string, string])[] = [
  ["/highlighter.ts", "./src/view/exported/highlighter.ts"],
  ["/math/drawing.ts", "./src/view/exported/formulas.ts"],
  ["./drawing.ts", "./src/view/exported/diagrams.ts"],
];

function inPage(): Plugin {
  return {
    name: "fairlead-in-page",
    enforce: "pre",
    resolveId: (source) => {
      const other = INSTEAD.find(([end]) => source.endsWith(end));
      return other ? here(other[1]) : null;
    },
  };
}

export default defineConfig({
  plugins: [inPage(), svelte(), inside("exported.html")],
  base: "./",
  publicDir: false,
  build: {
    outDir: "../src/fairlead/server/static",
    emptyOutDir: false,
    target: "es2023",
    assetsInlineLimit: Number.MAX_SAFE_INTEGER,
    cssCodeSplit: false,
    modulePreload: false,
    rolldownOptions: { input: here("./exported.html"), output: { codeSplitting: false } },
  },
});
