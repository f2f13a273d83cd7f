// The texts that stand in a script: its strings and templates, found without a parser.

/**
 * @typedef {{text: string, line: number, start: number, end: number, holes: [number, number][]}} Literal a string or
 *   template as it is written, without its quotes; `holes` are where a template's expressions begin and end
 */

export const HOLE = "\u0001"; // stands in a text for an expression

// A slash behind one of these begins a regular expression; behind anything else it divides.
const BEFORE_REGEX = /^([=(,:[!&|?{};+\-*%<>~^]|return|typeof|case|in|of|yield|await|)$/;

/** @param {string} source @returns {Literal[]} in the order in which they begin */
export function literals(source) {
  /** @type {Literal[]} */
  const found = [];
  let at = 0;
  let last = ""; // the word or sign before this place
  let line = 1;
  let counted = 0;

  function lineAt(/** @type {number} */ place) {
    for (; counted < place; counted += 1) if (source[counted] === "\n") line += 1;
    return line;
  }

  function quoted() {
    const start = at;
    const quote = source[at++];
    while (source[at] !== quote) at += source[at] === "\\" ? 2 : 1;
    at += 1;
    found.push({ text: source.slice(start + 1, at - 1), line: lineAt(start), start, end: at, holes: [] });
  }

  function template() {
    const literal = { text: "", line: lineAt(at), start: at, end: 0, holes: /** @type {[number, number][]} */ ([]) };
    found.push(literal);
    at += 1;
    while (source[at] !== "`") {
      if (source.startsWith("${", at)) {
        const from = at + 2;
        at = from;
        code("}");
        literal.holes.push([from, at]);
        literal.text += HOLE;
        at += 1;
      } else {
        const length = source[at] === "\\" ? 2 : 1;
        literal.text += source.slice(at, at + length);
        at += length;
      }
    }
    at += 1;
    literal.end = at;
  }

  function regex() {
    let listed = false;
    for (at += 1; source[at] !== "/" || listed; at += 1) {
      if (source[at] === "\\") at += 1;
      else if (source[at] === "[") listed = true;
      else if (source[at] === "]") listed = false;
    }
    at += 1;
  }

  function code(/** @type {string} */ end) {
    let depth = 0;
    while (at < source.length) {
      const sign = source[at];
      if (sign === end && !depth) return;
      if (/\s/.test(sign)) at += 1;
      else if (source.startsWith("//", at)) at = (source.indexOf("\n", at) + 1 || source.length + 1) - 1;
      else if (source.startsWith("/*", at)) at = source.indexOf("*/", at) + 2;
      else if (sign === '"' || sign === "'") {
        quoted();
        last = '"';
      } else if (sign === "`") {
        template();
        last = '"';
      } else if (sign === "/" && BEFORE_REGEX.test(last)) {
        regex();
        last = '"';
      } else {
        if (sign === "{") depth += 1;
        if (sign === "}") depth -= 1;
        last = /^[\w$]+/.exec(source.slice(at, at + 99))?.[0] ?? sign;
        at += last.length;
      }
    }
  }

  code("");
  return found;
}
