// Starts a page without a server: every answer that its scripts ask for lies packed in a file of its own beside it, which
// registers itself by `hxFile`. A script, not a module: a browser loads no module from a disk.

(() => {
  const base = new URL(".", document.baseURI).href;
  /** @type {Record<string, [string, string]>} path below hx/ -> [file, type] */
  const listed = JSON.parse(document.getElementById("hx-files")?.textContent ?? "{}");
  /** @type {Map<string, (bytes: Uint8Array<ArrayBuffer>) => void>} */ const awaited = new Map();
  /** @type {Map<string, Promise<string>>} */ const coming = new Map();
  /** @type {Map<string, (question: any) => Promise<any>>} */ const asked = new Map(); // what answers a question, by path
  const page = /** @type {any} */ (globalThis);

  page.hxFile = (/** @type {string} */ path, /** @type {number} */ size, /** @type {string} */ letters) =>
    awaited.get(path)?.(read(letters, size));

  /** @param {string} path @returns {Promise<string>} its text */
  function text(path) {
    const known = coming.get(path) ?? arrived(path).then(unpacked);
    coming.set(path, known);
    known.catch(() => coming.delete(path)); // who asks again tries again
    return known;
  }

  /** 13 bits in two letters (app/site/written.py). @param {string} letters @param {number} size in bytes */
  function read(letters, size) {
    const values = new Uint8Array(128);
    let letter = 0;
    for (let code = 33; code < 127; code++) if (!'"\\<'.includes(String.fromCharCode(code))) values[code] = letter++;
    const bytes = new Uint8Array(size);
    let [bits, held, at] = [0, 0, 0];
    for (let i = 0; i < letters.length; i += 2) {
      const pair = values[letters.charCodeAt(i)] * letter + values[letters.charCodeAt(i + 1)];
      bits = ((bits & 0xff) << 13) | pair;
      for (held += 13; held >= 8 && at < size; held -= 8) bytes[at++] = bits >> (held - 8);
    }
    return bytes;
  }

  /** @param {string} path @returns {Promise<Uint8Array<ArrayBuffer>>} */
  function arrived(path) {
    return new Promise((resolve, reject) => {
      awaited.set(path, resolve);
      const script = document.createElement("script");
      script.src = `${base}hx/${listed[path][0]}`;
      script.onerror = () => reject(new Error(script.src));
      script.onload = () => script.remove();
      document.head.append(script);
    });
  }

  /** @param {Uint8Array<ArrayBuffer>} bytes gzip */
  async function unpacked(bytes) {
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }

  const below = (/** @type {string} */ url) => (url.startsWith(`${base}hx/`) ? url.slice(base.length + 3) : null);

  /** Runs a script out of its file; the page's policy knows it by its hash. @param {string} path */
  async function run(path) {
    const script = document.createElement("script");
    script.textContent = await text(path);
    document.head.append(script);
  }

  page.hxRun = (/** @type {string} */ url) => run(below(url) ?? "");
  page.hxAnswers = (/** @type {string} */ path, /** @type {(question: any) => Promise<any>} */ f) => asked.set(path, f);
  page.fetch = async (/** @type {string|URL} */ address, /** @type {RequestInit} */ options = {}) => {
    const path = below(new URL(address, base).href);
    const get = (options.method ?? "GET") === "GET";
    if (path !== null && path in listed && get) {
      return new Response(await text(path), { headers: { "content-type": listed[path][1] } });
    }
    const answer = asked.get(path ?? "");
    if (answer && !get) return Response.json(await answer(JSON.parse(String(options.body))));
    const { no_server: error } = JSON.parse(document.getElementById("hx-words")?.textContent ?? "{}");
    return new Response(JSON.stringify({ error }), { status: 422, headers: { "content-type": "application/json" } });
  };
  /** Runs the texts of a language before the scripts: the address's, else the browser's. */
  async function speak() {
    /** @type {string[]} */ const there = JSON.parse(
      document.getElementById("hx-words")?.textContent ?? "{}",
    ).languages;
    const asked = [
      new URLSearchParams(location.search).get("lang"),
      ...navigator.languages.map((x) => x.split("-")[0]),
    ];
    const language = asked.find((one) => one && there.includes(one)) ?? "en";
    Object.assign(document.documentElement, { lang: language }).dataset.languages = there.join(" ");
    if (language !== "en") await run(`text/${language}.js`);
    await run("site.js");
  }

  speak().catch((error) => {
    const said = document.createElement("p");
    said.textContent = String(error.message ?? error);
    document.body.append(said);
  });
})();
