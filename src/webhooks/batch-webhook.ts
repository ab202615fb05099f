import { z } from 'zod';
import type { Journal } from '../journal/journal.js';
import { WebhookFormat } from '../protocol/session.js';

/** The webhook of a batch as it is stored, once decrypted. */
export const BatchWebhook = z.object({ url: z.string(), format: WebhookFormat.optional() });
export type BatchWebhook = z.infer<typeof BatchWebhook>;

/** The webhook of a batch; null if it has none, or if it cannot be read. @throws the journal's error */
export async function webhookOfBatch(
  {
    journal,
    vault,
  }: {
    readonly journal: Pick<Journal, 'keyValues'>;
    readonly vault: { unseal(stored: unknown): { readonly request: unknown } | null };
  },
  batch: string,
): Promise<BatchWebhook | null> {
  const [found] = await journal.keyValues('batch', batch);
  const stored = z.object({ webhook: z.unknown() }).safeParse(found?.data);
  const webhook = BatchWebhook.safeParse(stored.success ? vault.unseal(stored.data.webhook)?.request : null);
  return webhook.success ? webhook.data : null;
}
