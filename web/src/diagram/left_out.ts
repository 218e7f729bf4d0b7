/** In place of a part of Mermaid that is left out: a diagram that needs it is not drawn. */

export default class LeftOut {
  constructor() {
    throw new Error("this needs a part of Mermaid that is left out");
  }
}

export function renderToString(): never {
  throw new Error("formulas in diagrams are left out");
}
