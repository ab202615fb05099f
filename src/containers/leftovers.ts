import { z } from 'zod';
import type { DockerEngine } from './docker-engine.js';
import { INSTANCE_LABEL } from './docker-identity.js';

const Listed = z.array(z.object({ Id: z.string() }));

/**
 * Removes what an earlier service of this installation left, for one that has browsers from elsewhere now. Answers how
 * many; 0 where no engine answers.
 */
export async function removeLeftoverContainers(engine: DockerEngine, instance: string): Promise<number> {
  if ('why' in (await engine.version())) return 0;
  const filters = JSON.stringify({ label: [`${INSTANCE_LABEL}=${instance}`] });
  const left = await engine.json('GET', '/containers/json', Listed, { query: { all: '1', filters } });
  const query = { force: '1', v: '1' };
  await Promise.all(left.map(({ Id }) => engine.call('DELETE', `/containers/${Id}`, { query, accept: [404, 409] })));
  return left.length;
}
