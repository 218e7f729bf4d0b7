/**
 * One block of Markdown as nodes. What a model writes is hostile: raw HTML is shown as the text it
 * is, links go only to the web and say where, pictures are never fetched, and what comes out passes
 * DOMPurify, which allows a short list of elements.
 */
import DOMPurify from "dompurify";
import { Marked, type Token, type Tokens } from "marked";

const WEB = /^(https?:|mailto:)/i;

const marked = new Marked({
  gfm: true,
  renderer: {
    html: ({ text }) => escape(text),
    link({ href, tokens }) {
      const words = this.parser.parseInline(tokens);
      if (!WEB.test(href)) return `<span class="dead-link" title="${escape(href)}">${words}</span>`;
      return `<a href="${escape(href)}" title="${escape(href)}">${words}</a>`;
    },
    image({ href, text }) {
      const words = escape(text || "picture");
      const shown = `<span class="picture" title="${escape(href)}">${words}</span>`;
      return WEB.test(href) ? `<a href="${escape(href)}" title="${escape(href)}">${shown}</a>` : shown;
    },
    code: ({ text }) => `<pre><code>${escape(text)}</code></pre>`,
    table(token) {
      return `<div class="table" tabindex="0" role="group" aria-label="Table">${plainTable.parser([token])}</div>`;
    },
  },
});

const plainTable = new Marked({
  gfm: true,
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escape(text),
    link(token) {
      const words = this.parser.parseInline(token.tokens);
      if (!WEB.test(token.href)) return words;
      return `<a href="${escape(token.href)}" title="${escape(token.href)}">${words}</a>`;
    },
    image: ({ text }) => escape(text || "picture"),
  },
});

const NO_OTHER_SCHEME = /^(?:(?:https?|mailto):|[^a-z]|[a-z+.-]+(?:[^a-z+.\-:]|$))/i;
/** DOMPurify asks this of every attribute, not only of addresses; links are checked again below. */

const ALLOWED = {
  ALLOWED_TAGS: [
    "p", "br", "strong", "em", "del", "code", "pre", "a", "ul", "ol", "li", "blockquote", "hr",
    "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "input",
    "span", "div",
  ], // prettier-ignore
  ALLOWED_ATTR: ["href", "title", "class", "start", "type", "checked", "disabled", "align",
    "tabindex", "role", "aria-label"], // prettier-ignore
  ALLOWED_URI_REGEXP: NO_OTHER_SCHEME,
  ALLOW_DATA_ATTR: false,
};

/** The nodes of one block. */
export function renderBlock(token: Token): DocumentFragment {
  const html = marked.parser([token]);
  const nodes = DOMPurify.sanitize(html, { ...ALLOWED, RETURN_DOM_FRAGMENT: true });
  for (const link of nodes.querySelectorAll("a")) {
    if (!WEB.test(link.getAttribute("href") ?? "")) link.removeAttribute("href");
    link.target = "_blank";
    link.rel = "noopener noreferrer nofollow";
  }
  for (const box of nodes.querySelectorAll("input")) {
    box.setAttribute("type", "checkbox");
    box.setAttribute("disabled", "");
    box.setAttribute("aria-label", box.checked ? "done" : "open");
  }
  return nodes;
}

function escape(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
