/** The only Trusted Types policy of the app: it allows addresses of the app's own scripts. */

interface Factory {
  createPolicy(
    name: string,
    rules: { createScriptURL(text: string): string },
  ): { createScriptURL(text: string): unknown };
}

const factory = (globalThis as { trustedTypes?: Factory }).trustedTypes;

const policy = factory?.createPolicy("fairlead", {
  createScriptURL(text) {
    const address = new URL(text, location.href);
    if (address.origin !== location.origin) throw new TypeError("not a script of this app");
    return address.href;
  },
});

/** The address of a script of this app, in the form that starting a worker requires. */
export function scriptAddress(text: string): string {
  return (policy ? policy.createScriptURL(text) : text) as string;
}
