/** Readable names of a tool's input fields, and the values that need not be shown. Pure. */

const NAMES: Readonly<Record<string, string>> = {
  file_path: "File",
  notebook_path: "Notebook",
  old_string: "Old text",
  new_string: "New text",
  new_source: "New source",
  replace_all: "Replace all",
  run_in_background: "In the background",
  subagent_type: "Agent",
  dangerouslyDisableSandbox: "Without the sandbox",
  url: "URL",
};

/** Switches that need not be shown while they are off, as the CLI sends them for most calls. */
const OFF_BY_DEFAULT: ReadonlySet<string> = new Set(["replace_all", "run_in_background", "dangerouslyDisableSandbox"]);

/** A field's name for people: `Run in background` for `run_in_background`. */
export function fieldName(name: string): string {
  const known = Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;
  if (known !== undefined) return known;
  const words = name.replaceAll(/[_-]+/g, " ").trim();
  return words === "" ? name : words.charAt(0).toUpperCase() + words.slice(1);
}

/** Whether a field has its default value and need not be shown. */
export function isDefault(name: string, value: unknown): boolean {
  return value === false && OFF_BY_DEFAULT.has(name);
}

/** A field's value for people; null if it is shown unchanged. */
export function fieldWords(name: string, value: unknown): string | null {
  if (value === true && OFF_BY_DEFAULT.has(name)) return "yes";
  if (name === "timeout" && typeof value === "number" && value >= 1000) return `${value / 1000} s`;
  return null;
}
