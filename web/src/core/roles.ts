/** What a device may do, in words; the server decides (rule R8), this only tells. Pure. */

export interface Role {
  readonly value: string;
  readonly label: string;
  readonly about: string;
}

/** From the one that may least. */
export const ROLES: readonly Role[] = [
  { value: "viewer", label: "Viewer", about: "sees every session and its cost" },
  { value: "approver", label: "Approver", about: "also answers what sessions ask" },
  { value: "operator", label: "Operator", about: "also starts, steers and stops sessions, and reads files and raw lines" },
  { value: "owner", label: "Owner", about: "also pairs, names and cuts off devices" },
];

/** What a role does, for a sentence. */
export function roleAbout(value: string): string {
  const role = ROLES.find((one) => one.value === value);
  return role ? role.about.replace(/^also /, "looks, and ") : "can do nothing that is known here";
}

/** `a viewer`, `an owner`. */
export function aRole(value: string): string {
  return `${/^[aeiou]/.test(value) ? "an" : "a"} ${value}`;
}
