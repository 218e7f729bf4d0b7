/** Builds the app into the Python package; `npm run dev` passes its calls on to a running server. */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { type Plugin, transformWithOxc } from "vite";
import { defineConfig } from "vitest/config";

const server = process.env["FAIRLEAD_SERVER"] ?? "http://127.0.0.1:8790";

const SHELL = /^(?!.*\/katex-).*\.(js|css)$|-latin-wght-normal-.*\.woff2$/;
/** What is kept before it is asked for: all code but that for formulas, and the fonts that every page needs. */

const BESIDE = ["/icon.svg", "/icon-192.png", "/manifest.webmanifest"];

/** URLs of the page are absolute, because it is shown at many addresses; the server puts its path in front. */
const RELATIVE = /(\s(?:src|href)=")\.\//g;

const INTEGRITY = /<(script|link)\b[^>]*\b(?:src|href)="(\/assets\/[^"]+)"[^>]*>/g;

/** The parts of the service worker, which is one script; none imports another. */
const WORKER = ["./worker/shell.ts", "./worker/notifications.ts"];

async function workerPart(name: string): Promise<string> {
  const file = new URL(name, import.meta.url);
  const { code } = await transformWithOxc(readFileSync(file, "utf8"), file.pathname);
  return code.replace(/^export \{\s*\};?$/m, "");
}

/**
 * Hashes of what was built: the page names those of the files it loads, and the service worker those
 * of all files it may serve. Read from what was written, so that they are those of the server's files.
 */
function hashes(): Plugin {
  return {
    name: "fairlead-hashes",
    apply: "build",
    writeBundle: {
      order: "post",
      async handler({ dir }, bundle) {
        if (dir === undefined) throw new Error("the build has no folder");
        const hashOf = (file: string): string => createHash("sha256").update(readFileSync(file)).digest("base64");
        const page = `${dir}/index.html`;
        const tagged = readFileSync(page, "utf8").replace(RELATIVE, "$1/").replace(INTEGRITY, (tag, _name: string, path: string) =>
          tag.replace(/\s*>$/, ` integrity="sha256-${hashOf(dir + path)}">`),
        );
        writeFileSync(page, tagged);
        const built = Object.keys(bundle).filter((name) => name.startsWith("assets/") && !name.endsWith(".map"));
        const names = [...built.map((name) => `/${name}`).sort(), ...BESIDE];
        const beside = fileURLToPath(new URL("./public", import.meta.url));
        const files = Object.fromEntries(names.map((name) => [name, hashOf((BESIDE.includes(name) ? beside : dir) + name)]));
        const shell = { page: hashOf(page), files, first: names.filter((name) => SHELL.test(name) || BESIDE.includes(name)) };
        const text = JSON.stringify({ version: createHash("sha256").update(JSON.stringify(shell)).digest("hex").slice(0, 16), ...shell });
        const parts = await Promise.all(WORKER.map(workerPart));
        writeFileSync(`${dir}/sw.js`, [`const BASE = "/";`, `const SHELL = ${text};`, ...parts].join("\n"));
      },
    },
  };
}

/** The fonts of formulas in the one format that every browser reads. */
function oneFontFormat(): Plugin {
  const others = /,\s*url\([^)]*\.(?:woff|ttf)\)\s*format\("[^"]*"\)/g;
  return {
    name: "fairlead-one-font-format",
    enforce: "pre",
    transform: (code, id) => (/katex(\.min)?\.css$/.test(id.split("?")[0] ?? "") ? { code: code.replace(others, ""), map: null } : null),
  };
}

export default defineConfig({
  plugins: [oneFontFormat(), svelte(), hashes()],
  // Files name each other relative to themselves, so that the app works below any path.
  base: "./",
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
  // Tests of models keep no state between files, and loading every module once takes half of the CPU time.
  test: { include: ["tests/**/*.test.ts"], environment: "node", isolate: false },
});
