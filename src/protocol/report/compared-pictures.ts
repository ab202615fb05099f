/** The pictures of a failed `agent.expectScreenshot`, files directly under `screenshots/`. */
export interface ComparedPictures {
  /** The baseline's path in the flows folder. */
  readonly baseline: string;
  readonly received: string;
  /** Null if there was no baseline. */
  readonly expected: string | null;
  readonly difference: string | null;
}

const PICTURE = /^[^/\\\0.][^/\\\0]{0,198}\.png$/;

/** What an error's details say of compared pictures; null for all other errors. Scripts can throw what they like. */
export function comparedPictures(details: unknown): ComparedPictures | null {
  const { baseline, pictures } = membersOf(details);
  const { received, expected, difference } = membersOf(pictures);
  if (typeof baseline !== 'string' || !isPicture(received)) return null;
  return {
    baseline,
    received,
    expected: isPicture(expected) ? expected : null,
    difference: isPicture(difference) ? difference : null,
  };
}

function membersOf(value: unknown): { readonly [name in string]?: unknown } {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function isPicture(value: unknown): value is string {
  return typeof value === 'string' && PICTURE.test(value);
}
