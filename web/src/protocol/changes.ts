// Generated from src/fairlead/transcript/state/changes.py by `python -m fairlead.server.protocol.typescript`. Do not edit.

/** Put a row into a list: before the row `before`, or at the end. */
export interface Add {
  readonly op: "add";
  readonly to: string;
  readonly row: unknown;
  readonly before: string | null;
}

/** Cut a text of a row at `offset` and put `text` there; usually the offset is its length. */
export interface Append {
  readonly op: "append";
  readonly to: string;
  readonly id: string;
  readonly field: string;
  readonly offset: number;
  readonly text: string;
}

/** Take a row out of a list. */
export interface Remove {
  readonly op: "remove";
  readonly to: string;
  readonly id: string;
}

/** Put a new value in the place of a whole section. */
export interface Replace {
  readonly op: "replace";
  readonly to: string;
  readonly value: unknown;
}

/** Set fields of a row, or, without an `id`, of a section that is a single object. */
export interface SetFields {
  readonly op: "set";
  readonly to: string;
  readonly id: string | null;
  readonly fields: { readonly [key: string]: unknown };
}

export type Change =
  | Add
  | SetFields
  | Append
  | Remove
  | Replace;
