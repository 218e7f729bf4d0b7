/** Imports point one way: protocol, then core, then view; and nothing escapes the type checker. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const source = fileURLToPath(new URL("../src/", import.meta.url));
const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((name) => /\.(ts|svelte)$/.test(name));
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  protocol: ["protocol"],
  core: ["protocol", "core"],
  view: ["protocol", "core", "view"],
  // A page of its own, in a frame without access to the app.
  diagram: ["diagram"],
};
/** About 20 files: a newcomer reads the list of a folder at a glance. */
const MOST_FILES = 22;
const WITH_PACKAGES = ["view", "diagram"];

function imports(file: string): readonly string[] {
  const text = readFileSync(source + file, "utf8");
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((found) => found[1] ?? "");
}

test.each(files.filter((file) => file.includes("/")))("%s imports only what lies below it", (file) => {
  const layer = file.split("/")[0] ?? "";
  const foreign = imports(file).filter((name) => !name.startsWith("."));
  if (!WITH_PACKAGES.includes(layer)) expect(foreign).toEqual([]);
  for (const name of imports(file).filter((one) => one.startsWith("."))) {
    const to = relative(source, resolve(source, dirname(file), name)).split("/")[0];
    expect(ALLOWED[layer]).toContain(to);
  }
});

test("no folder is too long to read", () => {
  const sizes = new Map<string, number>();
  for (const file of files) sizes.set(dirname(file), (sizes.get(dirname(file)) ?? 0) + 1);
  expect([...sizes].filter(([, size]) => size > MOST_FILES)).toEqual([]);
});

test("no type is switched off", () => {
  const loose = files.filter((file) => /(:|<|\bas) any\b|@ts-(ignore|nocheck)/.test(readFileSync(source + file, "utf8")));
  expect(loose).toEqual([]);
});

/** The folders of the view that must not depend on each other in a circle; the root of `view` is shared by all. */
const ORDERED = ["code", "math", "diagram", "markdown", "parts", "tools", "decisions", "transcript", "composer"];

test("folders of the view do not import each other in a circle", () => {
  const edges = new Map<string, Set<string>>();
  for (const file of files.filter((name) => name.startsWith("view/"))) {
    const from = dirname(file);
    for (const name of imports(file).filter((one) => one.startsWith("."))) {
      const to = dirname(relative(source, resolve(source, dirname(file), name)));
      const mine = [from, to].every((folder) => ORDERED.includes(folder.split("/")[1] ?? ""));
      if (mine && to !== from) edges.set(from, (edges.get(from) ?? new Set()).add(to));
    }
  }
  const circles: string[] = [];
  const walk = (folder: string, path: readonly string[]): void => {
    if (path.includes(folder)) return void circles.push([...path.slice(path.indexOf(folder)), folder].join(" -> "));
    for (const next of edges.get(folder) ?? []) walk(next, [...path, folder]);
  };
  for (const folder of edges.keys()) walk(folder, []);
  expect([...new Set(circles)].slice(0, 5)).toEqual([]);
});
