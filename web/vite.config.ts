/** Builds the app into the Python package; `npm run dev` passes its calls on to a running server. */
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

const server = process.env["FAIRLEAD_SERVER"] ?? "http://127.0.0.1:8790";

export default defineConfig({
  plugins: [svelte()],
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
