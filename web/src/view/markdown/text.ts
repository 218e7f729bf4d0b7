/** Text of Markdown as it is meant: named characters, and addresses that may be followed. Pure. */

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

/** The text with its named and numbered characters; a name nobody knows stays as it is. */
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

/** Where a link leads, in full; null if it does not lead to the web. */
export function webAddress(href: string): string | null {
  const text = decoded(href).trim();
  if (!/^(https?:|mailto:)/i.test(text)) return null; // Nothing is relative to this page.
  try {
    const address = new URL(text);
    return WEB.has(address.protocol) ? address.href : null;
  } catch {
    return null;
  }
}

/**
 * The text with what turns its direction around made visible: such a letter shows other words than
 * those that are there. What right-to-left writing needs (marks, isolates) stays.
 */
export function shownDirection(text: string): string {
  return /[\u202a\u202b\u202d\u202e]/.test(text) ? text.replace(/[\u202a\u202b\u202d\u202e]/g, "\ufffd") : text;
}
