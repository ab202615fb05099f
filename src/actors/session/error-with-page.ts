import type { Agent } from '../../agent-js/agent.js';
import { TroupeError } from '../../protocol/errors.js';

/** A script's error with the page where it stood, unless the error says so itself. */
export async function errorWithPage(thrown: unknown, agent: Agent): Promise<unknown> {
  if (!(thrown instanceof TroupeError) || thrown.details?.url !== undefined) return thrown;
  const place = await agent.place().catch(() => null);
  return new TroupeError(thrown.code, thrown.message, { ...thrown.details, ...place }, { cause: thrown });
}
