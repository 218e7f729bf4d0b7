/** Builds the app into the Python package; `npm run dev` passes its calls on to a running server. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { type Plugin, transformWithOxc } from "vite";
import { defineConfig } from "vitest/config";

const server = process.env["FAIRLEAD_SERVER"] ?? "http://127.0.0.1:8790";

const SHELL = /\.(js|css)$|-latin-wght-normal-.*\.woff2$/;
/** What is kept before it is asked for: all code, and the fonts that every page needs. */

const BESIDE = ["/icon.svg", "/icon-192.png", "/manifest.webmanifest"];

/** The service worker with the list of what it keeps; any other file makes it another version. */
function serviceWorker(): Plugin {
  return {
    name: "fairlead-service-worker",
    apply: "build",
    generateBundle: {
      order: "post",
      async handler(_options, bundle) {
        const hash = createHash("sha256");
        for (const name of Object.keys(bundle).sort()) {
          const part = bundle[name];
          hash.update(name).update(part?.type === "asset" ? part.source : (part?.code ?? ""));
        }
        const files = [...Object.keys(bundle).filter((name) => SHELL.test(name)).map((name) => `/${name}`), ...BESIDE];
        const shell = JSON.stringify({ version: hash.digest("hex").slice(0, 16), files });
        const file = new URL("./worker/shell.ts", import.meta.url);
        const { code } = await transformWithOxc(readFileSync(file, "utf8"), file.pathname);
        const source = `const SHELL = ${shell};\n${code.replace(/^export \{\s*\};?$/m, "")}`;
        this.emitFile({ type: "asset", fileName: "sw.js", source });
      },
    },
  };
}

export default defineConfig({
  plugins: [svelte(), serviceWorker()],
  base: "/",
  build: {
    outDir: "../src/fairlead/server/static",
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  worker: { format: "es" },
  server: {
    proxy: {
      "/api": { target: server, changeOrigin: true },
      "/ws": { target: server, ws: true, changeOrigin: true },
    },
  },
  test: { include: ["tests/**/*.test.ts"], environment: "node" },
});
