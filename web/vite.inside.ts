/**
 * For pages that are one file with everything inside. Their content policy names the hash of their
 * script, so that no other script in the file can run.
 */
import { createHash } from "node:crypto";
import type { Plugin } from "vite";

const SCRIPT = /<script type="module"[^>]*><\/script>/;
const STYLE = /<link rel="stylesheet"[^>]*>/;

/** Puts the script and the styles into the page, in place of the elements that name them. */
export function inside(name: string): Plugin {
  return {
    name: "fairlead-inside",
    enforce: "post",
    generateBundle: {
      order: "post",
      handler(_options, bundle) {
        const page = bundle[name];
        if (page?.type !== "asset") throw new Error("the build has no page");
        let script = "";
        let style = "";
        for (const [path, file] of Object.entries(bundle)) {
          if (file.type === "chunk") script += file.code;
          else if (path.endsWith(".css")) style += String(file.source);
          else continue;
          delete bundle[path];
        }
        // Both would change how the browser reads the rest of the page.
        script = script.replace(/<(?=\/?script)/gi, "\\x3c");
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
