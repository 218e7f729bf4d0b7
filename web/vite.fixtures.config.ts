/** Serves the fixture pages: every screen from stored values, with no server behind it. */
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [svelte()],
  root: "fixtures",
  base: "./",
  publicDir: "../public",
  server: { port: 5199, strictPort: true, fs: { allow: [".."] } },
  build: { outDir: "../dist-fixtures", emptyOutDir: true, target: "es2023" },
  worker: { format: "es" },
});
