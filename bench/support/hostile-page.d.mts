export const HOSTILE_CASES: readonly string[];
export const HOSTILE_PAGE: string;
