/** The card of a change in a notebook. */
import type { ToolCard } from "../base/card.ts";
import { textOf } from "../../../core/plain.ts";
import { shortPath } from "../generic/generic.ts";
import NotebookTool from "./NotebookTool.svelte";

const MODES: Readonly<Record<string, string>> = {
  insert: "cell added",
  delete: "cell removed",
  replace: "cell changed",
};

export const notebook: ToolCard = {
  icon: "notebook",
  label: () => "Notebook",
  target: (item, cwd) => shortPath(textOf(item.input, "notebook_path"), cwd),
  outcome(item) {
    const mode = MODES[textOf(item.input, "edit_mode") || "replace"];
    const kind = textOf(item.structured, "cell_type") || textOf(item.input, "cell_type");
    if (item.state !== "done" || !mode) return [];
    return [{ text: `${kind ? `${kind} ` : ""}${mode}`, tone: "plain" }];
  },
  opens: (item) => item.state !== "denied",
  body: NotebookTool,
};
