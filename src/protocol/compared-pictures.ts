import { z } from 'zod';

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
export function comparedPictures(error: { readonly details?: unknown } | undefined): ComparedPictures | null {
  const details = z.object({ pictures: ComparedPictures }).safeParse(error?.details);
  return details.success ? details.data.pictures : null;
}
