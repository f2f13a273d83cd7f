/** The QR code of a link as a picture, black on white in any theme; the server draws it. */

import { svg } from "../kit/svg.js";
import { words } from "../../../text/en/share.js";

const QUIET = 4; // modules of white around it, as readers want them

/** @param {string} url @param {string} label what it is of, for those who do not see it */
export async function codePicture(url, label) {
  const { size, path } = await asked(url);
  const side = size + 2 * QUIET;
  const picture = svg("svg", {
    viewBox: `${-QUIET} ${-QUIET} ${side} ${side}`,
    role: "img",
    "aria-label": label,
    "shape-rendering": "crispEdges",
  });
  svg("path", { d: path, fill: "#000" }, picture);
  return picture;
}

/** @param {string} text @returns {Promise<{size: number, path: string}>} */
async function asked(text) {
  const reply = await fetch(new URL("../../../../qr", import.meta.url), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text }),
  });
  if (reply.status === 413) throw new Error(words.codeTooLong);
  if (!reply.ok) throw new Error(words.codeFailed);
  return reply.json();
}
