import { z } from 'zod';
import type { DockerEngine } from './docker-engine.js';
import { INSTANCE_LABEL } from './docker-identity.js';

const Listed = z.array(z.object({ State: z.string() }));

/** How many containers of an installation there are in each state, by the engine's word; none where it does not answer. */
export async function containerStates(engine: DockerEngine, instance: string): Promise<ReadonlyMap<string, number>> {
  const states = new Map<string, number>();
  const filters = JSON.stringify({ label: [`${INSTANCE_LABEL}=${instance}`] });
  const listed = await engine.json('GET', '/containers/json', Listed, { query: { all: '1', filters } }).catch(() => []);
  for (const { State } of listed) states.set(State, (states.get(State) ?? 0) + 1);
  return states;
}
