/** Descriptions of the roles. The server enforces them (rule R8). Pure. */

export interface Role {
  readonly value: string;
  readonly label: string;
  readonly about: string;
}

/** From the least to the most privileged. */
export const ROLES: readonly Role[] = [
  { value: "viewer", label: "Viewer", about: "can view every session and its cost" },
  { value: "approver", label: "Approver", about: "can also answer requests, but only with the offered choices" },
  { value: "operator", label: "Operator", about: "can also start, control and stop sessions, and read files and raw lines" },
  { value: "owner", label: "Owner", about: "can also manage devices" },
];

/** Whether a role includes the rights of another one; an unknown role includes nothing. */
export function mayAs(role: string, needed: string): boolean {
  const rank = (value: string): number => ROLES.findIndex((role) => role.value === value);
  return rank(needed) >= 0 && rank(role) >= rank(needed);
}

/** What a role can do, as the predicate of a sentence. */
export function roleAbout(value: string): string {
  const role = ROLES.find((each) => each.value === value);
  return role ? role.about.replace(/^can also /, "can view, and ") : "has an unknown role";
}

/** `a viewer`, `an owner`. */
export function aRole(value: string): string {
  return `${/^[aeiou]/.test(value) ? "an" : "a"} ${value}`;
}
