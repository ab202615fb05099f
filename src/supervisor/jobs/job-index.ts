import { encodeError, TroupeError } from '../../protocol/errors.js';

/** @throws the error of `check`, with the job's index before its message and its paths */
export async function withJobIndex(index: number, check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    const { code, error: sentence, details } = encodeError(error);
    const issues = Array.isArray(details?.issues) ? details.issues : [];
    const placed = issues.map((issue: { readonly path: string }) => ({
      ...issue,
      path: `jobs.${index}.${issue.path}`,
    }));
    const more = placed.length === 0 ? {} : { issues: placed };
    throw new TroupeError(code, `jobs.${index}: ${sentence}`, { ...details, ...more }, { cause: error });
  }
}
