/** Sorted lists. */

/** How many items of a sorted list lie at or before x.
 *  @template T @param {T[]} list @param {number} x @param {(item: T) => number} key */
export function upTo(list, x, key) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (key(list[mid]) <= x) low = mid + 1;
    else high = mid;
  }
  return low;
}
