// Starts a page without a server: every answer that its scripts ask for lies packed in a file of its own beside it, which
// registers itself by `hxFile`. A script, not a module: a browser loads no module from a disk.

(() => {
  const base = new URL(".", document.baseURI).href;
  /** @type {Record<string, [string, string]>} path below hx/ -> [file, type] */
  const listed = JSON.parse(document.getElementById("hx-files")?.textContent ?? "{}");
  /** @type {Map<string, (packed: string) => void>} */ const awaited = new Map();
  /** @type {Map<string, Promise<string>>} */ const coming = new Map();
  const page = /** @type {any} */ (globalThis);

  page.hxFile = (/** @type {string} */ path, /** @type {string} */ packed) => awaited.get(path)?.(packed);

  /** @param {string} path @returns {Promise<string>} its text */
  function text(path) {
    const known = coming.get(path) ?? arrived(path).then(unpacked);
    coming.set(path, known);
    known.catch(() => coming.delete(path)); // who asks again tries again
    return known;
  }

  /** @param {string} path @returns {Promise<string>} */
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

  /** @param {string} packed gzip in base64 */
  async function unpacked(packed) {
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
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
  page.fetch = async (/** @type {string|URL} */ asked, /** @type {RequestInit} */ options = {}) => {
    const path = below(new URL(asked, base).href);
    if (path !== null && path in listed && (options.method ?? "GET") === "GET") {
      return new Response(await text(path), { headers: { "content-type": listed[path][1] } });
    }
    const { no_server: error } = JSON.parse(document.getElementById("hx-words")?.textContent ?? "{}");
    return new Response(JSON.stringify({ error }), { status: 422, headers: { "content-type": "application/json" } });
  };
  run("site.js").catch((error) => {
    const said = document.createElement("p");
    said.textContent = String(error.message ?? error);
    document.body.append(said);
  });
})();
