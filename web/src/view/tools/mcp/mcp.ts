/** The card of any tool of an MCP server; the item's title already says "Server > Tool". */
import type { ToolCard } from "../base/card.ts";
import { generic } from "../generic/generic.ts";
import McpTool from "./McpTool.svelte";

export const mcp: ToolCard = { ...generic, icon: "plug", body: McpTool };
