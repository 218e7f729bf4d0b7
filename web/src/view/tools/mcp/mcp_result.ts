/** The result of an MCP tool, block by block; JSON inside a text is recognized. Pure. */
import type { ToolItem } from "../../../protocol/transcript.ts";
import { fieldsOf, listOf, shownValue, textOf } from "../../../core/plain.ts";

export type McpBlock =
  | { readonly kind: "text" | "json"; readonly text: string }
  | { readonly kind: "link"; readonly text: string; readonly name: string }
  | { readonly kind: "pictures"; readonly blocks: readonly unknown[] };

export function blocksOf(item: ToolItem): readonly McpBlock[] {
  const structured = item.structured;
  const inside = fieldsOf(structured);
  const listed = Array.isArray(structured) ? listOf(structured) : listOf(inside["content"]);
  const blocks = listed.map(blockOf).filter((block) => block !== null);
  const exact = inside["structuredContent"];
  if (exact !== undefined && exact !== null) return [{ kind: "json", text: shownValue(exact) }, ...blocks];
  if (blocks.length) return blocks;
  const pictures: readonly McpBlock[] = item.images.length ? [{ kind: "pictures", blocks: item.images }] : [];
  return item.result ? [textBlock(item.result), ...pictures] : pictures;
}

function blockOf(block: unknown): McpBlock | null {
  switch (textOf(block, "type")) {
    case "text":
      return textOf(block, "text") === "" ? null : textBlock(textOf(block, "text"));
    case "image":
      return { kind: "pictures", blocks: [picture(block)] };
    case "resource_link":
      return { kind: "link", text: textOf(block, "uri"), name: textOf(block, "name") };
    case "resource": {
      const held = fieldsOf(block)["resource"];
      return textBlock(textOf(held, "text") || textOf(held, "uri"));
    }
    default:
      return { kind: "json", text: shownValue(block) };
  }
}

/** An image in the form of messages; MCP itself writes `data` and `mimeType`. */
function picture(block: unknown): unknown {
  if (typeof fieldsOf(block)["source"] === "object") return block;
  return { source: { media_type: textOf(block, "mimeType"), data: textOf(block, "data") } };
}

function textBlock(text: string): McpBlock {
  if (!/^\s*[[{]/.test(text)) return { kind: "text", text };
  try {
    return { kind: "json", text: JSON.stringify(JSON.parse(text), null, 2) };
  } catch {
    return { kind: "text", text };
  }
}
