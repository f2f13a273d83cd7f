/** Text and traces out of the page and into it. */

import { FILES } from "../../../text/en/page.js";

const LONGEST_NAME = 150; // some systems allow 255 bytes

/** Copies text, also where the page has no secure context (a plain http address on a LAN). @param {string} text */
export async function copy(text) {
  if (navigator.clipboard && window.isSecureContext) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const area = document.createElement("textarea");
  area.value = text;
  area.style.position = "fixed";
  area.style.opacity = "0";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error(FILES.notCopied);
}

/** Text as gzip. @param {string} text */
export function gzipped(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Response(stream).blob();
}

/** Saves text as a gzip file; its size in bytes. @param {string} text @param {string} name */
export async function saveGzip(text, name) {
  return saveBlob(await gzipped(text), name);
}

/** Saves a file; its size in bytes. @param {Blob} blob @param {string} name */
export function saveBlob(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
  return blob.size;
}

/** The name of a trace's file: its preset, stack, clock (if not the machine's own) and day.
 *  @param {{preset?: string|null, stack: string, recorded?: string, levels?: readonly {lane?: number}[], reckoned?: boolean,
 *    simulated?: unknown}} header */
export function traceName({ preset, stack, recorded, levels = [], reckoned = false, simulated = "" }) {
  const day = (recorded || new Date().toISOString()).slice(0, 10);
  const apart = levels.some(({ lane }) => lane) && (preset || !simulated); // no preset: nothing ran
  const clock = apart ? [simulated ? "simulated" : reckoned ? "reckoned" : "real"] : [];
  const parts = [preset || "simulated", ...stack.split(","), ...clock, day].map((part) =>
    part.replace(/[^\w.=-]+/g, "-"),
  );
  const name = parts.join("_");
  return `${name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - day.length - 1)}_${day}` : name}.jsonl.gz`;
}

/** A file that the visitor chose, as base64. @param {File} file @returns {Promise<string>} */
export function readBase64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^data:[^,]*,/, ""));
    reader.onerror = () => reject(new Error(FILES.unreadable));
    reader.readAsDataURL(file);
  });
}

/** A name for a run that nobody guesses; `crypto.randomUUID` needs a secure context, this does not. */
export function newName() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
}
