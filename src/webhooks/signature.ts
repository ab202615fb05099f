import { createHmac } from 'node:crypto';

/**
 * Headers that prove a message's sender and time: Standard Webhooks (https://www.standardwebhooks.com), for which
 * receivers
 * have libraries.
 * @param secret `whsec_` and base64, or any other text, which is used as it is
 */
export function signatureHeaders(
  secret: string,
  { id, atMs, body }: { readonly id: string; readonly atMs: number; readonly body: string },
): { readonly [name: string]: string } {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret;
  const timestamp = String(Math.floor(atMs / 1000));
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}
