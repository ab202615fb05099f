/** Longer texts of a page are cut where they are recorded. */
export const MAX_RECORDED_TEXT = 10_000;
