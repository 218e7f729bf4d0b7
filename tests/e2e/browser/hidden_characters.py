"""Characters that hide or change text, and how the app must show them."""

from __future__ import annotations

__all__ = ["BARE", "NAMED"]


NAMED = "".join(f"a{chr(code)}b" for code in (0x202E, 0x200B, 0x00AD, 0xE0041, 0x0430))
"""A few of them, for names."""


BARE = """
(dialog) => {
  // The suspicious letters that stand in the dialog as they are, with no token around them.
  const bare = /[\\p{Cf}\\p{Co}\\p{Zl}\\p{Zp}\\p{DI}\\u2800]|(?![\\n\\t])\\p{Cc}|(?! )\\p{Zs}|[\\u0430\\u0435\\u043e\\u03bf\\u0440\\uff52\\u{1d42b}\\u2215\\u2044\\u2011]/gu;
  const found = [];
  const note = (where, text) => {
    for (const [letter] of text.matchAll(bare)) found.push(`${where}: U+${letter.codePointAt(0).toString(16)}`);
  };
  const walker = document.createTreeWalker(dialog, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const around = walker.currentNode.parentElement;
    if (!around.closest('[title^="U+"]')) note(around.tagName, walker.currentNode.data);
  }
  for (const one of [dialog, ...dialog.querySelectorAll("*")]) {
    for (const name of ["aria-label", "title", "placeholder"]) note(name, one.getAttribute(name) ?? "");
  }
  return found;
}
"""
