/** Decoded text of Markdown: character references, and addresses of links. Pure. */

const NAMED: Readonly<Record<string, string>> = {
  amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", copy: "©", reg: "®", trade: "™",
  hellip: "…", mdash: "—", ndash: "–", lsquo: "‘", rsquo: "’", ldquo: "“", rdquo: "”", laquo: "«",
  raquo: "»", bull: "•", middot: "·", times: "×", divide: "÷", minus: "−", plusmn: "±", deg: "°",
  micro: "µ", para: "¶", sect: "§", larr: "←", uarr: "↑", rarr: "→", darr: "↓", harr: "↔", rArr: "⇒",
  lArr: "⇐", hArr: "⇔", le: "≤", ge: "≥", ne: "≠", asymp: "≈", infin: "∞", radic: "√", sum: "∑",
  euro: "€", pound: "£", yen: "¥", cent: "¢", frac12: "½", frac14: "¼", sup2: "²", sup3: "³",
  check: "✓", cross: "✗", lbrace: "{", rbrace: "}", lbrack: "[", rbrack: "]", vert: "|", ast: "*",
  lowbar: "_", grave: "`", num: "#", bsol: "\\", sol: "/", colon: ":", Tab: "\t", NewLine: "\n",
}; // prettier-ignore

const ENTITY = /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([A-Za-z]\w{1,31}));/g;

/** The text with its character references decoded; an unknown name stays unchanged. */
export function decoded(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(ENTITY, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return Object.hasOwn(NAMED, name) ? (NAMED[name] ?? whole) : whole;
    return character(decimal !== undefined ? Number(decimal) : Number.parseInt(hex ?? "", 16));
  });
}

function character(code: number): string {
  const impossible = code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff);
  return impossible ? "\ufffd" : String.fromCodePoint(code);
}

const WEB: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);

/** The full address of a link; null if it does not lead to the web. */
export function webAddress(href: string): string | null {
  const text = decoded(href).trim();
  if (!/^(https?:|mailto:)/i.test(text)) return null; // Relative addresses are not links.
  try {
    const address = new URL(text);
    return WEB.has(address.protocol) ? address.href : null;
  } catch {
    return null;
  }
}

/**
 * The text with characters that override its direction made visible, because they can make it look
 * like another text. Characters that right-to-left scripts need (marks, isolates) stay.
 */
export function shownDirection(text: string): string {
  return /[\u202a\u202b\u202d\u202e]/.test(text) ? text.replace(/[\u202a\u202b\u202d\u202e]/g, "\ufffd") : text;
}
