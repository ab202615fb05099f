import { z } from 'zod';

/** `POST /api/sessions/{id}/recording`. `assertNext`: the next click says what is there, instead of being one. */
export const RecordingRequest = z
  .strictObject({ recording: z.boolean(), assertNext: z.boolean().optional() })
  .refine(({ recording, assertNext }) => recording || assertNext !== true, 'assertNext needs "recording": true');
export type RecordingRequest = z.infer<typeof RecordingRequest>;

/** Its response. */
export const RecordingAnswer = z.object({ recording: z.boolean() });
