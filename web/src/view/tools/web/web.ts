/** The cards of the web: a page that was fetched, a search. */
import type { ToolItem } from "../../../protocol/transcript.ts";
import { bytes } from "../../../core/time.ts";
import type { Outcome, ToolCard } from "../base/card.ts";
import { counted, numberOf, textOf } from "../../../core/plain.ts";
import { sourcesOf } from "./sources.ts";
import WebTool from "./WebTool.svelte";

function fetched(item: ToolItem): readonly Outcome[] {
  const [code, size] = [numberOf(item.structured, "code"), numberOf(item.structured, "bytes")];
  const out: Outcome[] = [];
  if (code !== null) out.push({ text: String(code), tone: code < 400 ? "plain" : "bad" });
  if (size !== null) out.push({ text: bytes(size), tone: "plain" });
  return out;
}

function searched(item: ToolItem): readonly Outcome[] {
  if (item.state !== "done") return [];
  return [{ text: counted(sourcesOf(item.structured, item.result ?? "").length, "source"), tone: "plain" }];
}

const opens = (item: ToolItem): boolean => item.state === "failed";

export const fetchPage: ToolCard = {
  icon: "globe",
  label: () => "Fetch",
  target: (item) => textOf(item.input, "url"),
  outcome: fetched,
  opens,
  body: WebTool,
};

export const searchWeb: ToolCard = {
  icon: "globe",
  label: () => "Web search",
  plainTarget: true,
  target: (item) => textOf(item.input, "query"),
  outcome: searched,
  opens,
  body: WebTool,
};
