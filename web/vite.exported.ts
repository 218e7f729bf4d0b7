/**
 * Builds the page of exported sessions as one file with everything inside: scripts, styles, fonts.
 * Its content policy names the hash of its script, so that no other script in the file can run.
 */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin } from "vite";

const SCRIPT = /<script type="module"[^>]*><\/script>/;
const STYLE = /<link rel="stylesheet"[^>]*>/;

/** Puts the script and the styles into the page, in place of the elements that name them. */
function inside(): Plugin {
  return {
    name: "fairlead-inside",
    enforce: "post",
    generateBundle: {
      order: "post",
      handler(_options, bundle) {
        const page = bundle["exported.html"];
        if (page?.type !== "asset") throw new Error("the build has no page");
        let script = "";
        let style = "";
        for (const [name, file] of Object.entries(bundle)) {
          if (file.type === "chunk") script += file.code;
          else if (name.endsWith(".css")) style += String(file.source);
          else continue;
          delete bundle[name];
        }
        script = script.replaceAll("</script", "<\\/script");
        const hash = createHash("sha256").update(script).digest("base64");
        page.source = String(page.source)
          .replace(SCRIPT, "")
          .replace(STYLE, () => `<style>${style.replaceAll("</style", "<\\/style")}</style>`)
          .replace("{scripts}", `'sha256-${hash}'`)
          .replace("</body>", () => `<script type="module">${script}</script>\n  </body>`);
      },
    },
  };
}

/** Code is colored in the page: a worker would need a second file. */
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
function inPage(): Plugin {
  return {
    name: "fairlead-in-page",
    enforce: "pre",
    resolveId: (source) => (source.endsWith("/highlighter.ts") ? here("./src/view/exported/highlighter.ts") : null),
  };
}

export default defineConfig({
  plugins: [inPage(), svelte(), inside()],
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
