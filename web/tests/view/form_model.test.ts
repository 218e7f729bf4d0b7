import { describe, expect, test } from "vitest";
import { fill, formFields, startValues } from "../../src/view/decisions/forms/form_model.ts";

const SCHEMA = {
  type: "object",
  required: ["name", "count"],
  properties: {
    name: { type: "string", title: "Name", minLength: 2 },
    count: { type: "integer", minimum: 1, maximum: 9, default: 3 },
    mail: { type: "string", format: "email" },
    sure: { type: "boolean" },
    size: { type: "string", enum: ["s", "l"], enumNames: ["Small", "Large"] },
    kind: { type: "string", oneOf: [{ const: "a", title: "Kind A" }] },
    tags: { type: "array", items: { enum: ["x", "y"] }, minItems: 1 },
    more: { type: "object" },
  },
};

describe("a form from a schema", () => {
  test("every field has its kind, and the order asked for comes first", () => {
    const fields = formFields(SCHEMA, ["count", "nothing"]);
    expect(fields.map((one) => [one.name, one.kind])).toEqual([
      ["count", "integer"], ["name", "text"], ["mail", "text"], ["sure", "switch"],
      ["size", "one"], ["kind", "one"], ["tags", "several"], ["more", "json"],
    ]);
    expect(fields[4]?.options).toEqual([{ value: "s", label: "Small" }, { value: "l", label: "Large" }]);
    expect(fields[5]?.options).toEqual([{ value: "a", label: "Kind A" }]);
  });

  test("what was filled in comes out as the schema wants it", () => {
    const fields = formFields(SCHEMA);
    const values = { ...startValues(fields), name: "Ada", tags: ["y"], more: '{"a":1}', mail: "a@b" };
    expect(fill(fields, values)).toEqual({
      content: { name: "Ada", count: 3, mail: "a@b", sure: false, tags: ["y"], more: { a: 1 } },
      problems: {},
    });
  });

  test("what is missing or wrong is said at its field", () => {
    const fields = formFields(SCHEMA);
    const { problems } = fill(fields, { ...startValues(fields), count: "12", mail: "no", more: "{" });
    expect(problems).toEqual({
      name: "Required", count: "At most 9", mail: "This must be an e-mail address", more: "This must be JSON",
    });
    expect(fill(fields, { ...startValues(fields), name: "A", count: "1.5" }).problems).toEqual({
      name: "At least 2 characters", count: "This must be a whole number",
    });
  });

  test("what is no schema is a form without fields", () => {
    for (const schema of [null, 3, {}, { properties: [] }]) expect(formFields(schema)).toEqual([]);
  });
});
