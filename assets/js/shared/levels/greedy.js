/** Whether tokens are chosen, not drawn: what decides it for the whole page, as `is_greedy` does in
 *  hsd_core/models/sampling.py. */

/** At temperature 0, or where one token alone is kept; what is missing is switched off.
 *  @param {Record<string, any>} [sampling] of a header, or the settings */
export const greedy = ({ temperature = 0, top_k = 0 } = {}) => Number(temperature) === 0 || Number(top_k) === 1;

/** Whether a run was greedy. @param {{header?: {sampling: Record<string, any>}|null}} model */
export const isGreedy = ({ header }) => Boolean(header) && greedy(header?.sampling);

/** Whether a greedy run and plain decoding beside it wrote different texts. @param {{header?: any, baseline?: any}} model */
export const differing = (model) => isGreedy(model) && Boolean(model.baseline?.diverges);

/** The temperature that tokens are drawn at; 0 where they are not drawn. @param {Record<string, any>} sampling */
export const heatOf = (sampling) => (greedy(sampling) ? 0 : Number(sampling.temperature));
