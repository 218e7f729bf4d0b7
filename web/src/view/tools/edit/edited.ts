/** The input of a call that a user modified before allowing it. Pure. */
import type { ToolItem } from "../../../protocol/transcript.ts";
import { fieldsOf, type Fields } from "../../../core/plain.ts";

/** Whether a user changed the input. */
export function wasEdited(item: ToolItem): boolean {
  return item.decision?.["edited"] === true || fieldsOf(item.structured)["userModified"] === true;
}

/** The requested input; `input` itself is what ran. */
export function askedInput(item: ToolItem): Fields {
  return fieldsOf(item.decision?.["asked"] ?? item.input);
}
