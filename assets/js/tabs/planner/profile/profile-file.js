/** A profile as a file of the visitor's: opened, saved. */

import { saveBlob } from "../../../shared/kit/files.js";
import { PLANNER } from "../../../../text/en/planner.js";

const LARGEST = 300_000; // bytes

/** The source that a file is, or what is wrong with it. The server reads it as it reads every profile: the page knows no
 *  format of its own. @param {File} file @param {string} url where the server answers
 *  @returns {Promise<{source?: any, fault: string}>} */
export async function openedProfile(file, url) {
  if (file.size > LARGEST) return { fault: PLANNER.tooLarge(file.name, Math.round(file.size / 1000)) };
  let profile;
  try {
    profile = JSON.parse(await file.text());
  } catch {
    return { fault: PLANNER.noJson(file.name) };
  }
  const reply = await checked(profile, url);
  if (reply.error) return { fault: `${file.name}: ${reply.error}` };
  const about = reply.profile.about ?? {};
  const source = {
    id: `file:${file.name}`,
    title: file.name,
    kind: about.simulated ? "simulated" : "file",
    note: [about.machine, about.device].filter(Boolean).join(" \u00b7 "),
    preset: String(about.preset ?? ""),
    profiles: [reply.profile],
  };
  return { source, fault: "" };
}

/** @param {any} profile @param {string} name of its file, without its end */
export function saveProfile(profile, name) {
  const blob = new Blob([JSON.stringify(profile, null, 1)], { type: "application/json" });
  saveBlob(blob, `${name.replace(/[^\w.-]+/g, "-")}-profile.json`);
}

async function checked(/** @type {unknown} */ profile, /** @type {string} */ url) {
  try {
    const reply = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ profile, check: true }),
    });
    return await reply.json();
  } catch {
    return { error: PLANNER.unreachable };
  }
}
