/** The language for a name after three backticks or for a file name extension. Pure. */

const NAMES: Readonly<Record<string, string>> = {
  bash: "bash", sh: "bash", shell: "bash", zsh: "bash", console: "bash", shellsession: "bash",
  c: "c", h: "c", cpp: "cpp", "c++": "cpp", cc: "cpp", hpp: "cpp", cs: "csharp", csharp: "csharp",
  css: "css", diff: "diff", patch: "diff", dockerfile: "dockerfile", go: "go", golang: "go",
  graphql: "graphql", gql: "graphql", ini: "ini", toml: "ini", cfg: "ini", conf: "ini",
  java: "java", js: "javascript", jsx: "javascript", mjs: "javascript", cjs: "javascript",
  javascript: "javascript", json: "json", jsonc: "json", ndjson: "json", jsonl: "json",
  ipynb: "json", kt: "kotlin", kotlin: "kotlin", lua: "lua", makefile: "makefile", mk: "makefile",
  make: "makefile", md: "markdown", markdown: "markdown", php: "php", py: "python", pyi: "python",
  python: "python", rb: "ruby", ruby: "ruby", rs: "rust", rust: "rust", scss: "scss", sql: "sql",
  swift: "swift", ts: "typescript", tsx: "typescript", mts: "typescript", typescript: "typescript",
  html: "xml", xml: "xml", svg: "xml", svelte: "xml", vue: "xml", yaml: "yaml", yml: "yaml",
}; // prettier-ignore

/** The language of a name, or null if it cannot be highlighted. */
export function languageOf(name: string): string | null {
  const word = name.trim().split(/[\s,{]/)[0]?.toLowerCase() ?? "";
  return Object.hasOwn(NAMES, word) ? (NAMES[word] ?? null) : null;
}

/** The language of a file by its name. */
export function languageOfFile(path: string): string | null {
  const file = path.split("/").pop()?.toLowerCase() ?? "";
  const end = file.includes(".") ? file.slice(file.lastIndexOf(".") + 1) : file;
  return languageOf(end);
}
