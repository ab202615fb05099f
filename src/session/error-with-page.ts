import type { Agent } from '../agent-js/agent.js';
import { TroupeError } from '../protocol/errors.js';

/** Adds the page's URL and title to a script's error, unless the error has them or is of a second browser. */
export async function errorWithPage(thrown: unknown, agent: Agent): Promise<unknown> {
  if (!(thrown instanceof TroupeError) || thrown.details?.url !== undefined) return thrown;
  if (thrown.details?.session !== undefined) return thrown;
  const place = await agent.place().catch(() => null);
  return new TroupeError(thrown.code, thrown.message, { ...thrown.details, ...place }, { cause: thrown });
}
