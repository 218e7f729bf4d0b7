/** No regular expression of the web app takes more than linear time, as `tests/timing` checks for Python. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { grows } from "./timing.ts";

const SOURCE = join(import.meta.dirname, "../src");
const SIZE = 16_000;
const CLASSES = ["a", "0", " ", "\n", "-", "_", ".", "/", '"', "'", "\\", "<", ">", "{", "[", "(", ",", "*", "`", "|", "=", "\x1b[", "é"];

interface Pattern {
  readonly file: string;
  readonly source: string;
  readonly flags: string;
}

function* files(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* files(path);
    else if (/\.(ts|svelte)$/.test(entry.name)) yield path;
  }
}

/** The scripts of a file: all of it, or what a component has between its script tags. */
function scripts(path: string): string[] {
  const text = readFileSync(path, "utf8");
  if (!path.endsWith(".svelte")) return [text];
  return text.split("<script").slice(1).map((part) => part.slice(part.indexOf(">") + 1).split("</script>")[0] ?? "");
}

function patterns(): Pattern[] {
  const all = new Map<string, Pattern>();
  for (const path of files(SOURCE)) {
    const file = relative(SOURCE, path);
    const add = (source: string, flags: string): void => void all.set(`${file}: /${source}/${flags}`, { file, source, flags });
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) {
        const end = node.text.lastIndexOf("/");
        add(node.text.slice(1, end), node.text.slice(end + 1));
      }
      if (ts.isNewExpression(node) && node.expression.getText() === "RegExp" && node.arguments?.[0] && ts.isStringLiteralLike(node.arguments[0])) {
        add(node.arguments[0].text, "u");
      }
      ts.forEachChild(node, visit);
    };
    for (const script of scripts(path)) visit(ts.createSourceFile("x.ts", script, ts.ScriptTarget.Latest, true));
  }
  return [...all.values()];
}

/** Runs of the pattern's own literals, of common characters, and of pairs of these. */
function texts(source: string): ((size: number) => string)[] {
  const plain = source.replace(/\(\?[:=!<]*|\\[bBdDwWsSnrt]|[$^]/g, " ");
  const literals = [...new Set(plain.match(/[^\s()[\]{}?*+|\\]{1,12}/g) ?? [])].slice(0, 6);
  const units = [...literals, ...CLASSES];
  const repeated = (head: string, unit: string) => (size: number) => head + unit.repeat(size / unit.length) + "\0";
  const pairs = literals.flatMap((first) => [" ", "a", "\n", ...literals.slice(0, 3)].flatMap((second) => [repeated("", first + second), repeated(first, second)]));
  return [...units.map((unit) => repeated("", unit)), ...pairs];
}

const ALL = patterns();

test("the patterns are found", () => {
  expect(ALL.length).toBeGreaterThan(40);
  expect(ALL.some(({ file }) => file.endsWith(".svelte"))).toBe(true);
});

test.each(ALL.map((pattern) => [`${pattern.file}: /${pattern.source}/${pattern.flags}`, pattern] as const))("%s takes linear time", (_name, pattern) => {
  const expression = new RegExp(pattern.source, pattern.flags);
  const run = (text: string): unknown => {
    expression.lastIndex = 0;
    return expression.global ? text.replace(expression, "") : expression.exec(text);
  };
  const bad: string[] = [];
  for (const text of texts(pattern.source)) {
    const problem = grows(run, text, SIZE);
    if (problem !== null) bad.push(`${JSON.stringify(text(20))}: ${problem}`);
  }
  expect(bad).toEqual([]);
});
