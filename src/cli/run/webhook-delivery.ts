import { z } from 'zod';
import { pause, stretched } from '../../base/deadline.js';
import { WebhookDelivery } from '../../protocol/webhook.js';
import type { ServiceClient } from '../service-client.js';

/** A message is waited for this long: a service of the run's own ends with the run. */
const WAIT_MS = 15_000;
const LOOK_EVERY_MS = 100;

/**
 * Waits until the message about a batch's end was delivered, or a first attempt failed.
 * @param batch the batch's path in the API
 * @returns null if it was delivered, else what is known, as a sentence
 * @throws what the service answered
 */
export async function webhookProblem(client: ServiceClient, batch: string): Promise<string | null> {
  const end = performance.now() + stretched(WAIT_MS);
  for (;;) {
    const [delivery] = z.array(WebhookDelivery).parse(await client.json('GET', `${batch}/webhooks`));
    if (delivery?.state === 'delivered') return null;
    if (delivery !== undefined && delivery.attempts > 0) {
      const next = delivery.state === 'waiting' ? '; the service tries again' : '';
      return `The webhook at ${delivery.origin} did not get its message: ${delivery.lastError ?? 'no reason is known'}${next}`;
    }
    if (performance.now() >= end) return `The webhook had not got its message after ${WAIT_MS / 1000} s`;
    await pause(LOOK_EVERY_MS);
  }
}
