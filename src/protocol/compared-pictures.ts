import { z } from 'zod';
import type { ErrorBody } from './errors.js';

/** A file directly under `screenshots/`. */
const PictureFile = z.string().regex(/^[^/\\\0.][^/\\\0]{0,198}\.png$/);

/** The pictures of a failed `agent.expectScreenshot`; only `received` if there was no baseline. */
const ComparedPictures = z.object({
  expected: PictureFile.optional(),
  received: PictureFile,
  difference: PictureFile.optional(),
});
export type ComparedPictures = z.infer<typeof ComparedPictures>;

/** The pictures that an error's details name; null for all other errors. */
export function comparedPictures(error: ErrorBody | undefined): ComparedPictures | null {
  const pictures = ComparedPictures.safeParse(error?.details?.pictures);
  return pictures.success ? pictures.data : null;
}
