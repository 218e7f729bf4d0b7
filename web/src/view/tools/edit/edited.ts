/** What a call ran with, where a person changed it before allowing it. Pure. */
import type { ToolItem } from "../../../protocol/transcript.ts";
import { fieldsOf, type Fields } from "../../../core/plain.ts";

/** Whether a user changed the input. */
export function wasEdited(item: ToolItem): boolean {
  return item.decision?.["edited"] === true || fieldsOf(item.structured)["userModified"] === true;
}

/** The input that was asked for; `input` itself is what ran. */
export function askedInput(item: ToolItem): Fields {
  return fieldsOf(item.decision?.["asked"] ?? item.input);
}
