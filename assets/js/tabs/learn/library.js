/** What lessons take their figures from besides the run that is shown: other recordings, and the shipped results. */

import { TraceModel } from "../../shared/run/trace.js";
import { namesRequests, namesResults, recordingsIn } from "./figures/refs.js";
import { LANGUAGE } from "../../../text/language.js";

/** Where the lessons and classes are, in the page's language. */
export const LESSONS = LANGUAGE === "en" ? "lessons" : `lessons/${LANGUAGE}`;

export class Library {
  constructor() {
    /** @type {Map<string, import("../../shared/run/trace.js").TraceModel>} */ this.recordings = new Map();
    /** @type {any[]} */ this.reports = [];
    /** @type {import("./figures/run-figures.js").ManyRequests|null} */ this.requests = null;
    /** @type {Map<string, Promise<void>>} */ this._coming = new Map();
  }

  /** Fetches what a text names, each once; what is not there stays away. @param {any} value @param {string[]} more recordings */
  async gather(value, more = []) {
    const names = new Set([...recordingsIn(value), ...more]);
    const asks = [...names].map((name) => this._once(name, () => this._recording(name)));
    if (namesResults(value)) asks.push(this._once("", () => this._reports()));
    if (namesRequests(value)) asks.push(this._once("requests", () => this._requests()));
    await Promise.all(asks);
  }

  /** @param {string} name @param {() => Promise<void>} fetched */
  _once(name, fetched) {
    const coming = this._coming.get(name) ?? fetched().catch(() => void this._coming.delete(name));
    this._coming.set(name, coming);
    return coming;
  }

  async _recording(/** @type {string} */ name) {
    const payload = await asked(`recordings/${encodeURIComponent(name)}`);
    const model = new TraceModel();
    model.append(payload.ev);
    this.recordings.set(name, model);
  }

  async _requests() {
    this.requests = await asked("lessons-requests");
  }

  async _reports() {
    this.reports = (await asked("results")).reports;
  }
}

/** What the server has below its own address. @param {string} path */
export async function asked(path) {
  const reply = await fetch(new URL(`../../../../${path}`, import.meta.url));
  if (!reply.ok) throw new Error(`status ${reply.status}`);
  return reply.json();
}
