/** The bar on top: where the profile comes from. And what chooses it: which, at which temperature; open a file,
 *  save it. */

import { faceButton, h, icon } from "../../../shared/kit/dom.js";
import { toggleTheme } from "../../../shared/kit/theme.js";
import { PLANNER, SOURCE } from "../../../../text/en/planner.js";
import { saveBlob } from "../../../shared/kit/files.js";

/** @import {Profile, Source} from "./profile.js" */

const taglineOf = (/** @type {string} */ kind) => SOURCE.taglines[kind] ?? SOURCE.tagline;

/** @param {{opens: boolean, onSource: (source: Source, at: number) => void, onFile: (file: File) => void, onSave: () => void}} ctx */
export function sourceBar(ctx) {
  /** @type {Source[]} */ let sources = [];
  /** @type {Source} */ let now;
  const pick = h("select.hx-select.hx-plan-source", {
    "aria-label": SOURCE.profile,
    onchange: () => ctx.onSource(sources[+pick.value], 0),
  });
  const heat = h("select.hx-select.hx-plan-heat", {
    "aria-label": SOURCE.temperature,
    hidden: true,
    onchange: () => ctx.onSource(now, +heat.value),
  });
  const badge = h("span.hx-plan-kind");
  const note = h("span.hx-plan-from");
  const changed = h("span.hx-plan-changed", { text: SOURCE.changed, hidden: true });
  const file = h("input", {
    type: "file",
    accept: ".json,application/json",
    hidden: true,
    "aria-label": SOURCE.file,
    onchange: () => {
      if (file.files?.[0]) ctx.onFile(file.files[0]);
      file.value = "";
    },
  });
  const open = h("button.hx-quiet", { onclick: () => file.click() }, [icon("open"), h("span", SOURCE.open)]);
  const save = h("button.hx-quiet", { onclick: () => ctx.onSave() }, [icon("save"), h("span", SOURCE.save)]);
  const tagline = h("p.hx-tagline", taglineOf(""));
  const el = h("header.hx-plan-top", [
    h("div.hx-plan-title", [h("h1", PLANNER.title), tagline]),
    faceButton("theme", SOURCE.theme, () => toggleTheme()),
    h("p.hx-plan-origin", [badge, note, changed]),
  ]);
  const choose = h("div.hx-plan-choose", [pick, heat, ctx.opens && open, save, ctx.opens && file]);

  function list(/** @type {Source[]} */ found) {
    sources = found;
    pick.replaceChildren(
      ...sources.map((source, i) =>
        h("option", {
          value: String(i),
          disabled: !source.profiles.length,
          text: source.profiles.length
            ? `${source.title} (${SOURCE.brief[source.kind] ?? source.kind})`
            : `${source.title}: ${source.reason || SOURCE.noProfile}`,
        }),
      ),
    );
    pick.hidden = !sources.length;
    save.disabled = !sources.some((source) => source.profiles.length);
  }

  return {
    el,
    choose,
    list,
    add(/** @type {Source} */ source) {
      list([...sources.filter((one) => one.id !== source.id), source]);
    },
    show(/** @type {Source} */ source, /** @type {number} */ at) {
      now = source;
      pick.value = String(sources.indexOf(source));
      heat.replaceChildren(
        ...source.profiles.map((profile, i) =>
          h("option", {
            value: String(i),
            text: profile.temperature ? SOURCE.temperatureIs(profile.temperature) : SOURCE.greedy,
          }),
        ),
      );
      heat.value = String(at);
      heat.hidden = source.profiles.length < 2;
      badge.textContent = SOURCE.kinds[source.kind] ?? source.kind;
      badge.dataset.kind = source.kind;
      tagline.textContent = taglineOf(source.kind);
      note.textContent = [source.title, source.note].filter(Boolean).join(" · ");
    },
    edited(/** @type {boolean} */ is) {
      changed.hidden = !is;
    },
  };
}

// A profile as a file of the visitor's: opened, saved.

const LARGEST = 300_000; // bytes

/** The source that a file is, or what is wrong with it. The server reads it as it reads every profile: the page knows no
 *  format of its own. @param {File} file @param {string} url where the server answers
 *  @returns {Promise<{source?: Source, fault: string}>} */
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

/** @param {Profile} profile @param {string} name of its file, without its end */
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
