/** Which suggestion of the CLI can be shown in the field. Pure. */
import { visible } from "../parts/visible.ts";

/** The CLI itself suggests less than 100 characters (CLI-1712). */
const LONGEST = 300;

/** The suggestion in one line; empty if there is none, or if the user could not see all of it. */
export function suggested(text: string | null): string {
  const line = (text ?? "").trim();
  if (line.length > LONGEST || line.includes("\n")) return "";
  const { hidden, alike, blanks } = visible(line);
  return hidden + alike + blanks > 0 ? "" : line;
}
