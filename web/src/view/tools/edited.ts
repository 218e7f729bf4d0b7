/** What a call ran with, where a person changed it before allowing it. Pure. */
import type { Settled, ToolItem } from "../../protocol/messages.ts";
import { fieldsOf, type Fields } from "./fields.ts";

/** Whether somebody changed the input. */
export function wasEdited(item: ToolItem): boolean {
  return item.decision?.["edited"] === true;
}

/** The input that was asked for; `input` itself is what ran. */
export function askedInput(item: ToolItem): Fields {
  return fieldsOf(item.decision?.["asked"] ?? item.input);
}

/** The input that ran: from the answer that allowed the call, else the one that was asked for. */
export function ranInput(item: ToolItem, settled: readonly Settled[]): Fields {
  const request = item.decision?.["request"];
  const answer = wasEdited(item) ? settled.find((one) => one.id === request)?.answer : null;
  const ran = fieldsOf(fieldsOf(answer)["updatedInput"]);
  return Object.keys(ran).length ? ran : fieldsOf(item.input);
}
