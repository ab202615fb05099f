import { z } from 'zod';

/** Where an element is in the viewport, in CSS pixels. It may reach beyond the viewport. */
export const ElementBox = z.object({
  x: z.number(),
  y: z.number(),
  width: z.number(),
  height: z.number(),
  viewportWidth: z.number(),
  viewportHeight: z.number(),
});
export type ElementBox = z.infer<typeof ElementBox>;
