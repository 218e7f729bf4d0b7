/** What KaTeX may do with a formula of a model. Pure. */

/**
 * Without trust there are no links, images or HTML attributes. Macros are expanded only a few hundred
 * times, and no rule or space is larger than some lines. An error leaves the source on the page.
 */
export const LIMITS = {
  trust: false,
  strict: "ignore",
  throwOnError: true,
  maxExpand: 300,
  maxSize: 20,
  output: "htmlAndMathml",
} as const;
