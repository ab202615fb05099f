import { z } from 'zod';
import type { DockerEngine } from './docker-engine.js';
import { INSTANCE_LABEL } from './docker-identity.js';

/** Numbers are asked for every few seconds. */
const DEADLINE_MS = 3_000;
const Listed = z.array(z.object({ State: z.string() }));

/** How many containers of an installation there are in each state, by the engine's word; none where it does not answer. */
export async function containerStates(engine: DockerEngine, instance: string): Promise<ReadonlyMap<string, number>> {
  const states = new Map<string, number>();
  const filters = { label: [`${INSTANCE_LABEL}=${instance}`] };
  const list = async () =>
    Listed.parse(await (await engine.docker({ deadlineMs: DEADLINE_MS })).listContainers({ all: true, filters }));
  for (const { State } of await list().catch(() => [])) states.set(State, (states.get(State) ?? 0) + 1);
  return states;
}
