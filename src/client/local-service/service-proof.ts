import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** 32 random bytes in base64url: what a challenge, a proof, and the secret between a service and its clients look like. */
export const PROOF_FORM = /^[\w-]{43}$/;

/** A new secret or challenge. */
export function randomWord(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * What a service answers to a challenge: only a process that has read the secret in the service's file can compute it.
 * It holds for one port, so that another program cannot pass the challenge on to the service on its own port.
 */
export function proofOf(secret: string, port: number, challenge: string): string {
  return createHmac('sha256', secret).update(`troupe service\n${port}\n${challenge}`).digest('base64url');
}

/** Whether an answer is the proof. Takes as long for any wrong one. */
export function isProof(given: unknown, expected: string): boolean {
  if (typeof given !== 'string' || !PROOF_FORM.test(given)) return false;
  return timingSafeEqual(Buffer.from(given), Buffer.from(expected));
}
