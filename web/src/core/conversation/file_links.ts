/** Links from a path in the conversation to the files page. Pure. */
import { pathOf } from "../routes.ts";

const LONGEST = 200;
/** Extensions of names that count as files even without a folder. */
const BARE = new Set("c cc cfg conf cpp cs css csv go h html ini ipynb java js json jsx kt lock lua md mjs php py rb rs scss sh sql svelte swift toml ts tsx txt vue xml yaml yml".split(" "));

/** A path and a line in a short text such as `src/app.py:42`; null if it is something else. */
export function namedFile(text: string): { readonly path: string; readonly line: number } | null {
  if (text.length > LONGEST || !/^[\w@.+/-]+(?::\d{1,7})?$/.test(text)) return null;
  const colon = text.indexOf(":");
  const path = (colon < 0 ? text : text.slice(0, colon)).replace(/^\.\//, "");
  const line = colon < 0 ? 0 : Number(text.slice(colon + 1));
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  const ending = dot < 0 ? "" : name.slice(dot + 1);
  if (path.split("/").includes("..") || !/^[A-Za-z]\w{0,9}$/.test(ending)) return null;
  const nested = path.includes("/") && !path.endsWith("/");
  return nested || (dot > 0 && BARE.has(ending.toLowerCase())) ? { path, line } : null;
}

/** A part of a text; `file` if it names one. */
export interface TextPart {
  readonly text: string;
  readonly file: { readonly path: string; readonly line: number } | null;
}

/**
 * A text with the paths in it. Stricter than `namedFile`: a word needs a folder or the number of a
 * line, and its first folder must not look like the name of a web site.
 */
export function pathsIn(text: string): readonly TextPart[] {
  if (!text.includes("/") && !/:\d/.test(text)) return [{ text, file: null }];
  const parts: TextPart[] = [];
  let plain = "";
  for (const word of text.split(/(\s+)/)) {
    const { before, name, after } = word.length > LONGEST ? NO_NAME : withoutColumn(withoutMarks(word));
    const file = name === "" ? null : namedFile(name);
    if (file === null || !(name.includes("/") ? /^(\.?\/|[^./]+\/|\.[^./]+\/)/.test(name) : file.line > 0)) {
      plain += word;
      continue;
    }
    if (plain + before) parts.push({ text: plain + before, file: null });
    parts.push({ text: name, file });
    plain = after;
  }
  if (plain) parts.push({ text: plain, file: null });
  return parts;
}

interface Word {
  readonly before: string;
  readonly name: string;
  readonly after: string;
}

const NO_NAME: Word = { before: "", name: "", after: "" };
const OPENING = "\"'([";
const CLOSING = "\"')],;:.!?";

/** A word without the marks around it. Not by a pattern: one with `.*?` takes quadratic time. */
function withoutMarks(word: string): Word {
  let start = 0;
  while (start < word.length && OPENING.includes(word[start]!)) start += 1;
  let end = word.length;
  while (end > start && CLOSING.includes(word[end - 1]!)) end -= 1;
  return { before: word.slice(0, start), name: word.slice(start, end), after: word.slice(end) };
}

/** Without what programs write after a path and a line: a column, as in `a.py:3:7`, or the line itself. */
function withoutColumn(word: Word): Word {
  const place = /^[\w@.+/-]+:\d{1,7}(?=:)/.exec(word.name)?.[0];
  return place === undefined ? word : { ...word, name: place, after: word.name.slice(place.length) + word.after };
}

/** The address of a file of a session. */
export function fileAddress(session: string, path: string, line = 0): string {
  const query = `path=${encodeURIComponent(path)}${line > 0 ? `&line=${line}` : ""}`;
  return pathOf({ page: "files", id: session, query });
}
