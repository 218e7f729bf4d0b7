/**
 * A form from the JSON schema an MCP server sends: the fields to draw, and what was filled in as
 * the values the schema asks for, or what is wrong with them. Only the flat kinds that MCP allows;
 * anything else is a field that takes JSON. Pure.
 */
import { type Fields, fieldsOf, listOf, numberOf, textOf, textsOf } from "../tools/fields.ts";

export type FieldKind = "text" | "number" | "integer" | "switch" | "one" | "several" | "json";

export interface FieldOption {
  readonly value: string;
  readonly label: string;
}

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly about: string;
  readonly kind: FieldKind;
  readonly required: boolean;
  /** The kind of input box: text, email, url, date, datetime-local. */
  readonly box: string;
  readonly options: readonly FieldOption[];
  readonly start: FieldValue;
  readonly schema: Fields;
}

export type FieldValue = string | boolean | readonly string[];

export interface Filled {
  readonly content: Readonly<Record<string, unknown>>;
  /** What is wrong, by the name of the field; empty if nothing is. */
  readonly problems: Readonly<Record<string, string>>;
}

const BOXES: Readonly<Record<string, string>> = {
  email: "email",
  uri: "url",
  date: "date",
  "date-time": "datetime-local",
};

/** The fields of a schema, in the order that is asked for. */
export function formFields(schema: unknown, order: unknown = null): readonly Field[] {
  const properties = fieldsOf(fieldsOf(schema)["properties"]);
  const required = new Set(textsOf(fieldsOf(schema)["required"]));
  const first = textsOf(order).filter((name) => Object.hasOwn(properties, name));
  const names = [...new Set([...first, ...Object.keys(properties)])];
  return names.map((name) => field(name, fieldsOf(properties[name]), required.has(name)));
}

/** What the form holds before anybody touched it. */
export function startValues(fields: readonly Field[]): Record<string, FieldValue> {
  return Object.fromEntries(fields.map((one) => [one.name, one.start]));
}

/** What was filled in, as the schema wants it. */
export function fill(fields: readonly Field[], values: Readonly<Record<string, FieldValue>>): Filled {
  const content: Record<string, unknown> = {};
  const problems: Record<string, string> = {};
  for (const one of fields) {
    const value = values[one.name] ?? one.start;
    if (isEmpty(value)) {
      if (one.required) problems[one.name] = "This is needed";
      continue;
    }
    const [read, problem] = readValue(one, value);
    if (problem) problems[one.name] = problem;
    else content[one.name] = read;
  }
  return { content, problems };
}

function field(name: string, schema: Fields, required: boolean): Field {
  const [kind, options] = kindOf(schema);
  return {
    name,
    label: textOf(schema, "title") || name,
    about: textOf(schema, "description"),
    kind,
    required,
    box: BOXES[textOf(schema, "format")] ?? "text",
    options,
    start: start(kind, schema["default"]),
    schema,
  };
}

function kindOf(schema: Fields): readonly [FieldKind, readonly FieldOption[]] {
  const type = textOf(schema, "type");
  if (type === "boolean") return ["switch", []];
  if (type === "number" || type === "integer") return [type, []];
  if (type === "array") {
    const options = optionsOf(fieldsOf(schema["items"]));
    return options.length ? ["several", options] : ["json", []];
  }
  const options = optionsOf(schema);
  if (options.length) return ["one", options];
  return [type === "string" || type === "" ? "text" : "json", []];
}

function optionsOf(schema: Fields): readonly FieldOption[] {
  const titled = [...listOf(schema["oneOf"]), ...listOf(schema["anyOf"])];
  const named = titled
    .filter((one) => typeof fieldsOf(one)["const"] === "string")
    .map((one) => ({ value: textOf(one, "const"), label: textOf(one, "title") || textOf(one, "const") }));
  if (named.length) return named;
  const names = textsOf(schema["enumNames"]);
  return textsOf(schema["enum"]).map((value, at) => ({ value, label: names[at] ?? value }));
}

function start(kind: FieldKind, value: unknown): FieldValue {
  if (kind === "switch") return value === true;
  if (kind === "several") return textsOf(value);
  if (kind === "json") return value === undefined ? "" : JSON.stringify(value, null, 2);
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function isEmpty(value: FieldValue): boolean {
  return typeof value === "boolean" ? false : value.length === 0;
}

function readValue(one: Field, value: FieldValue): readonly [unknown, string] {
  if (typeof value === "boolean") return [value, ""];
  if (typeof value !== "string") return [value, countProblem(one, value.length)];
  if (one.kind === "number" || one.kind === "integer") return readNumber(one, value);
  if (one.kind === "json") return readJson(value);
  return [one.box === "datetime-local" ? moment(value) : value, textProblem(one, value)];
}

function readNumber(one: Field, text: string): readonly [unknown, string] {
  const value = Number(text.trim());
  if (!Number.isFinite(value)) return [null, "This must be a number"];
  if (one.kind === "integer" && !Number.isSafeInteger(value)) return [null, "This must be a whole number"];
  const [least, most] = [numberOf(one.schema, "minimum"), numberOf(one.schema, "maximum")];
  if (least !== null && value < least) return [null, `At least ${least}`];
  if (most !== null && value > most) return [null, `At most ${most}`];
  return [value, ""];
}

function readJson(text: string): readonly [unknown, string] {
  try {
    return [JSON.parse(text) as unknown, ""];
  } catch {
    return [null, "This must be JSON"];
  }
}

function textProblem(one: Field, text: string): string {
  const [least, most] = [numberOf(one.schema, "minLength"), numberOf(one.schema, "maxLength")];
  const length = [...text].length;
  if (least !== null && length < least) return `At least ${least} characters`;
  if (most !== null && length > most) return `At most ${most} characters`;
  if (one.box === "email" && !/^[^\s@]+@[^\s@]+$/.test(text)) return "This must be an e-mail address";
  if (one.box === "url" && !URL.canParse(text)) return "This must be an address, as https://example.org";
  return "";
}

function countProblem(one: Field, count: number): string {
  const [least, most] = [numberOf(one.schema, "minItems"), numberOf(one.schema, "maxItems")];
  if (least !== null && count < least) return `Choose at least ${least}`;
  return most !== null && count > most ? `Choose at most ${most}` : "";
}

/** What a date-time box holds, as RFC 3339 wants it. */
function moment(text: string): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : at.toISOString();
}
