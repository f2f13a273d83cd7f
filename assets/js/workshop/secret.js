/** The secret in the page's address: the room's code, or the instructor's key. It leaves the address before any other script
 *  reads that, and before the history has it: the page's head holds this script by itself. */

const BEHIND = "#workshop=";

/** The secret that an address holds, and the address without it.
 *  @param {{pathname: string, search: string, hash: string}} address
 *  @returns {{secret: {key: string}|{code: string}|null, rest: string}} */
export function secretIn({ pathname, search, hash }) {
  const query = new URLSearchParams(search);
  const behind = hash.startsWith(BEHIND) ? hash.slice(BEHIND.length) : null;
  const key = behind ?? query.get("workshop");
  const code = query.get("room");
  query.delete("workshop");
  query.delete("room");
  const rest = pathname + (query.size ? `?${query}` : "") + (behind === null ? hash : "");
  return { secret: key ? { key } : code ? { code } : null, rest };
}

/** The secret in the page's own address, taken out of it. */
export function takeSecret() {
  const { secret, rest } = secretIn(location);
  if (secret) history.replaceState(history.state, "", rest);
  return secret;
}
