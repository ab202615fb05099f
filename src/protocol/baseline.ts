import { z } from 'zod';

/** `POST /api/sessions/{id}/baselines`. */
export const BaselineApproval = z.strictObject({
  /** The path that the failed check names: `shop/cart.baselines/home.docker-linux.png`. */
  baseline: z.string().min(1).max(500),
});
export type BaselineApproval = z.infer<typeof BaselineApproval>;

/** Its response. */
export const ApprovedBaseline = z.object({
  baseline: z.string(),
  bytes: z.int(),
  /** Whose flows folder has it now: the service's, or the copy that the session's run brought with it. */
  flows: z.enum(['service', 'run']),
  /** Where it is among the session's artifacts. */
  artifact: z.string(),
});
export type ApprovedBaseline = z.infer<typeof ApprovedBaseline>;
