/** Which lines of the text are code, said by the text alone, as far as it is written: what stands between fences of
 *  backticks, lines that begin as a program's do and no sentence does, and what is indented below those. */

/**
 * What is known at a place of the text. `line`: its own so far; `code`: whether it is code; `fenced`: whether a fence was
 * open before it; `above`: whether the last line with words was code; `list`: whether that belongs to a list; `blank`:
 * whether nothing or an empty line stands right above.
 * @typedef {{line: string, code: boolean, fenced: boolean, above: boolean, list: boolean, blank: boolean}} Place
 */
/** @type {Readonly<Place>} */
export const START = Object.freeze({ line: "", code: false, fenced: false, above: false, list: false, blank: true });

const FENCE = /^ {0,3}(```|~~~)/;
const ITEM = /^\s*([-*+\u2022]|\d+[.)])(\s|$)/;
const INDENTED = /^( {4}|\t)/;
const STATEMENT =
  /^\s*(def \w|async def |class \w+ ?[:({]|import (\w+(\.\w+)*( as \w+)?;?$|[\w.]*\.\*|[{"*])|from [\w.]+ import\b|if __name__|#include|#!|function \w*\(|(const|let|var) \w+ =|(public|private|static) \w|(int|void|char|double|float|bool|auto) \w+\(|fn \w+[(<]|func \w+\(|package \w+;|using [\w.:]+;|(for|while|if|switch) \(|@\w+(\(|$))/;
const GOES_ON =
  /^\s*([\w.[\]]+ ?[-+*/]?= |[\w.]+\(|#|\/\/|[{}\])]|(return|else|elif|except|try|with|for|while|if|print|raise|pass|break)\b)/;

/** The place behind a piece of text. @param {Place} from @param {string} text @returns {Place} */
export function behind(from, text) {
  const [first, ...rest] = text.split("\n");
  let at = going(from, first);
  for (const line of rest) at = going(ended(at), line);
  return at;
}

/** The line goes on. @param {Place} at @param {string} text @returns {Place} */
function going(at, text) {
  const line = at.line + text;
  return { ...at, line, code: at.fenced || FENCE.test(line) || (line.trim() === "" ? at.above : isCode(at, line)) };
}

/** @param {Place} at @param {string} line with words, outside of fences */
function isCode({ above, list, blank }, line) {
  if (STATEMENT.test(line)) return true;
  if (above && !blank && GOES_ON.test(line)) return true;
  return INDENTED.test(line) && !ITEM.test(line) && (above || (blank && !list));
}

/** The next line begins. @param {Place} at @returns {Place} */
function ended({ line, code, fenced, above, list }) {
  const fence = FENCE.test(line);
  const blank = line.trim() === "";
  return {
    line: "",
    code: false,
    fenced: fence ? !fenced : fenced,
    above: blank ? above : code && !fence,
    list: blank ? list : ITEM.test(line) || (list && INDENTED.test(line)),
    blank,
  };
}
