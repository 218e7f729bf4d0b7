/**
 * One block of Markdown as nodes, created one by one from the parser's tokens. What a model writes
 * is hostile, and no text of it is ever given to the browser as HTML: raw HTML is shown as text,
 * links only lead to the web and show their target, images are never loaded.
 *
 * `draw` may be called again with a longer text: what did not change keeps its nodes, so that a
 * selection survives, nothing flickers, and a long list costs no more than its last line.
 */
import type { Token, Tokens } from "marked";
import { namedFile, pathsIn } from "../../core/conversation/file_links.ts";
import { within } from "./inline.ts";
import { isMath } from "./math.ts";
import { drawMath } from "../math/drawing.ts";
import { drawTable } from "./table.ts";
import { fileHref, hasFiles } from "../parts/file_href.ts";
import { decoded, shownDirection, webAddress } from "../parts/text.ts";

interface Kept {
  readonly token: Token;
  readonly node: ChildNode;
}

/** What was drawn into a node, in order. */
const drawn = new WeakMap<Node, readonly Kept[]>();

const SILENT: ReadonlySet<string> = new Set(["space", "def"]);

/** Draw these tokens into a node; nodes of unchanged tokens stay. */
export function draw(parent: Element, given: readonly Token[]): void {
  const tokens = within(given).filter((token) => !SILENT.has(token.type)).flatMap(withPaths);
  const before = drawn.get(parent) ?? [];
  const after = tokens.map((token, at) => place(parent, token, before[at]));
  for (const { node } of before.slice(tokens.length)) node.remove();
  drawn.set(parent, after);
}

/** Draw everything again, because the same text has a new meaning. */
export function redraw(parent: Element, tokens: readonly Token[]): void {
  parent.replaceChildren();
  drawn.delete(parent);
  draw(parent, tokens);
}

function place(parent: Element, token: Token, before: Kept | undefined): Kept {
  if (before && isSame(before.token, token)) return before;
  if (before && before.token.type === token.type && grown(before, token)) {
    return { token, node: before.node };
  }
  const node = made(token);
  if (before) before.node.replaceWith(node);
  else parent.append(node);
  return { token, node };
}

function isSame(before: Token, token: Token): boolean {
  if (before.raw !== token.raw || before.type !== token.type) return false;
  // The whole list determines whether an item is loose, not the item's own text.
  return token.type !== "list_item" || (before as Tokens.ListItem).loose === token["loose"];
}

/** Update a node to its new token; false if it must be created again. */
function grown({ token: before, node }: Kept, token: Token): boolean {
  if (node instanceof Text) {
    const [old, text] = [node.data, words(token)];
    if (text.startsWith(old)) node.appendData(text.slice(old.length));
    else node.data = text;
    return true;
  }
  if (!(node instanceof HTMLElement) || nameOf(before) !== nameOf(token)) return false;
  switch (token.type) {
    case "paragraph":
    case "heading":
    case "blockquote":
    case "strong":
    case "em":
    case "del":
    case "list":
    case "list_item":
    case "text":
      fill(node, token);
      return true;
    case "table":
      drawTable(node, token as Tokens.Table, draw);
      return true;
    default:
      return false;
  }
}

function made(token: Token): ChildNode {
  if (isMath(token)) {
    const node = element(token.display ? "div" : "span", "math");
    node.textContent = shownDirection(token.raw.trim());
    drawMath(node, token.tex, token.display);
    return node;
  }
  switch (token.type) {
    case "table": {
      const frame = element("div", "table");
      drawTable(frame, token as Tokens.Table, draw);
      return frame;
    }
    case "code": {
      const frame = element("pre");
      const code = element("code");
      code.textContent = shownDirection(token["text"] as string);
      frame.append(code);
      return frame;
    }
    case "codespan": {
      const code = element("code");
      code.textContent = shownDirection(token["text"] as string);
      return fileLink(code, token["text"] as string);
    }
    case "path":
      return fileLink(document.createTextNode(shownDirection(token.raw)), token.raw);
    case "link":
      return link(token as Tokens.Link);
    case "image":
      return picture(token as Tokens.Image);
    case "checkbox":
      return checkbox(token["checked"] === true);
    case "br":
    case "hr":
      return element(token.type);
    default: {
      const name = nameOf(token);
      if (name === null) return document.createTextNode(words(token));
      const node = element(name);
      fill(node, token);
      return node;
    }
  }
}

/** The element of a token that contains other tokens; null if it is text. */
function nameOf(token: Token): keyof HTMLElementTagNameMap | null {
  switch (token.type) {
    case "paragraph":
      return "p";
    case "heading":
      return `h${Math.min(6, Math.max(1, Number(token["depth"])))}` as "h1";
    case "blockquote":
    case "strong":
    case "em":
    case "del":
      return token.type;
    case "list":
      return token["ordered"] ? "ol" : "ul";
    case "list_item":
      return "li";
    case "text":
      return Array.isArray(token["tokens"]) ? "span" : null;
    case "html":
      return token["block"] ? "p" : null;
    case "table":
      return "div";
    default:
      return null;
  }
}

const OWN_DIRECTION: ReadonlySet<string> = new Set(["P", "LI", "BLOCKQUOTE", "H1", "H2", "H3", "H4", "H5", "H6"]);

function fill(node: HTMLElement, token: Token): void {
  if (OWN_DIRECTION.has(node.tagName)) node.dir = "auto";
  if (token.type === "html") {
    node.textContent = token.raw.trimEnd();
    return;
  }
  const { start, items, tokens, task } = token as Tokens.Generic;
  if (token.type === "list_item" && task) node.className = "task";
  if (node instanceof HTMLOListElement) node.start = Number(start) || 0;
  draw(node, (items as readonly Token[] | undefined) ?? tokens ?? []);
}

let insideLink = false;

/** A text in parts, if it names files: each of those is a token of its own. */
function withPaths(token: Token): readonly Token[] {
  if (token.type !== "text" || Array.isArray(token["tokens"]) || insideLink || !hasFiles()) return [token];
  const parts = pathsIn(token["text"] as string);
  if (parts.length === 1 && parts[0]?.file === null) return [token];
  return parts.map(({ text, file }) => ({ type: file === null ? "text" : "path", raw: text, text }));
}

/** Words that name a file of the open session lead to it; `Shell` opens the page without loading it again. */
function fileLink<Words extends ChildNode>(code: Words, text: string): HTMLElement | Words {
  const file = namedFile(text);
  const href = file === null ? null : fileHref(file.path, file.line);
  if (file === null || href === null) return code;
  const node = element("a");
  node.href = href;
  node.dataset["file"] = file.path;
  node.append(code);
  return node;
}

/** A link that shows its target, or text if it does not lead to the web. */
function link(token: Tokens.Link): HTMLElement {
  const address = webAddress(token.href);
  const node = address === null ? element("span", "dead-link") : anchor(address);
  node.title = address ?? decoded(token.href);
  insideLink = true;
  draw(node, token.tokens);
  insideLink = false;
  return node;
}

/** The name of an image as a link; it is never loaded, because loading it would inform its server. */
function picture(token: Tokens.Image): HTMLElement {
  const address = webAddress(token.href);
  const shown = element("span", "picture");
  shown.textContent = decoded(token.text) || "picture";
  shown.title = address ?? decoded(token.href);
  if (address === null) return shown;
  const node = anchor(address);
  node.title = address;
  node.append(shown);
  return node;
}

function anchor(address: string): HTMLAnchorElement {
  const node = element("a");
  node.href = address;
  node.target = "_blank";
  node.rel = "noopener noreferrer nofollow";
  return node;
}

function checkbox(checked: boolean): HTMLInputElement {
  const box = element("input");
  box.type = "checkbox";
  box.disabled = true;
  box.checked = checked;
  box.setAttribute("aria-label", checked ? "done" : "open");
  return box;
}

/** The text of a token that contains no other tokens. */
function words(token: Token): string {
  if (token.type === "text") return shownDirection(decoded(token["text"] as string));
  if (token.type === "escape") return token["text"] as string;
  return shownDirection(token.raw);
}

function element<K extends keyof HTMLElementTagNameMap>(name: K, look?: string): HTMLElementTagNameMap[K] {
  const node = document.createElement(name);
  if (look) node.className = look;
  return node;
}
