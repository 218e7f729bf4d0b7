/**
 * A form from the JSON schema an MCP server sends: the fields to draw, and what was filled in as
 * the values the schema asks for, or what is wrong with them. Only the flat kinds that MCP allows;
 * anything else is a field that takes JSON. Pure.
 */
import { type Fields, fieldsOf, listOf, numberOf, textOf, textsOf } from "../../../core/plain.ts";

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
  /** The type of the input element: text, email, url, date, datetime-local. */
  readonly box: string;
  readonly options: readonly FieldOption[];
  readonly start: FieldValue;
  readonly schema: Fields;
}

export type FieldValue = string | boolean | readonly string[];

export interface Filled {
  readonly content: Readonly<Record<string, unknown>>;
  /** The problems by the name of the field; empty if there are none. */
  readonly problems: Readonly<Record<string, string>>;
}

const BOXES: Readonly<Record<string, string>> = {
  email: "email",
  uri: "url",
  date: "date",
  "date-time": "datetime-local",
};

/** The fields of a schema, in its order. */
export function formFields(schema: unknown, order: unknown = null): readonly Field[] {
  const properties = fieldsOf(fieldsOf(schema)["properties"]);
  const required = new Set(textsOf(fieldsOf(schema)["required"]));
  const first = textsOf(order).filter((name) => Object.hasOwn(properties, name));
  const names = [...new Set([...first, ...Object.keys(properties)])];
  return names.map((name) => field(name, fieldsOf(properties[name]), required.has(name)));
}

/** The initial values of the form. */
export function startValues(fields: readonly Field[]): Record<string, FieldValue> {
  return Object.fromEntries(fields.map((field) => [field.name, field.start]));
}

/** The values as the schema requires them. */
export function fill(fields: readonly Field[], values: Readonly<Record<string, FieldValue>>): Filled {
  const content: Record<string, unknown> = {};
  const problems: Record<string, string> = {};
  for (const field of fields) {
    const value = values[field.name] ?? field.start;
    if (isEmpty(value)) {
      if (field.required) problems[field.name] = "Required";
      continue;
    }
    const [read, problem] = readValue(field, value);
    if (problem) problems[field.name] = problem;
    else content[field.name] = read;
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
    .filter((option) => typeof fieldsOf(option)["const"] === "string")
    .map((option) => ({ value: textOf(option, "const"), label: textOf(option, "title") || textOf(option, "const") }));
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

function readValue(field: Field, value: FieldValue): readonly [unknown, string] {
  if (typeof value === "boolean") return [value, ""];
  if (typeof value !== "string") return [value, countProblem(field, value.length)];
  if (field.kind === "number" || field.kind === "integer") return readNumber(field, value);
  if (field.kind === "json") return readJson(value);
  return [field.box === "datetime-local" ? moment(value) : value, textProblem(field, value)];
}

function readNumber(field: Field, text: string): readonly [unknown, string] {
  const value = Number(text.trim());
  if (!Number.isFinite(value)) return [null, "This must be a number"];
  if (field.kind === "integer" && !Number.isSafeInteger(value)) return [null, "This must be a whole number"];
  const [least, most] = [numberOf(field.schema, "minimum"), numberOf(field.schema, "maximum")];
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

function textProblem(field: Field, text: string): string {
  const [least, most] = [numberOf(field.schema, "minLength"), numberOf(field.schema, "maxLength")];
  const length = [...text].length;
  if (least !== null && length < least) return `At least ${least} characters`;
  if (most !== null && length > most) return `At most ${most} characters`;
  if (field.box === "email" && !/^[^\s@]+@[^\s@]+$/.test(text)) return "This must be an e-mail address";
  if (field.box === "url" && !URL.canParse(text)) return "This must be an address, as https://example.org";
  return "";
}

function countProblem(field: Field, count: number): string {
  const [least, most] = [numberOf(field.schema, "minItems"), numberOf(field.schema, "maxItems")];
  if (least !== null && count < least) return `Choose at least ${least}`;
  return most !== null && count > most ? `Choose at most ${most}` : "";
}

/** The value of a date-time field in RFC 3339. */
function moment(text: string): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : at.toISOString();
}

/** Whether a field takes free text instead of a choice, a switch or a number. */
export function isWritten(field: Field): boolean {
  return field.kind === "text" || field.kind === "json";
}
