import { z } from 'zod';

/** `worker` of the configuration: what one container may use; megabytes. */
export const WorkerKey = z.strictObject({
  image: z.string().min(1).optional(),
  memory: z.int().min(256).max(1_048_576).default(2048),
  pids: z.int().min(100).max(100_000).default(512),
  cpus: z.number().min(0.1).max(1024).default(2),
  // A process inside writes no larger file, and a picture of the largest page is one: 7680 x 4320 points of four bytes.
  downloads: z.int().min(192).max(1_048_576).default(1024),
  scale: z.number().min(0.5).max(4).default(1),
});
