import { z } from 'zod';

/** A container and everything that proves it is this lease's. */
export const DockerIdentity = z.object({
  driver: z.literal('docker'),
  leaseId: z.string(),
  containerId: z.string(),
  /** The lease's folder on this machine; absolute. */
  folder: z.string(),
  cdpUrl: z.string(),
  product: z.string(),
  /** The proxy that its session asked for. */
  proxy: z.string().optional(),
});
export type DockerIdentity = z.infer<typeof DockerIdentity>;

/** Which service a container belongs to: a start of another one leaves it alone. */
export const INSTANCE_LABEL = 'troupe.instance';
/** Which lease of that service: the session's id, or that of a browser that waits for its session. */
export const LEASE_LABEL = 'troupe.lease';
