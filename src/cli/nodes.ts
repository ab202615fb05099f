import { type Config, readConfig } from '../config.js';
import { Health, NodeInfo } from '../protocol/answers.js';
import { TroupeError } from '../protocol/errors.js';
import { DRAIN, HEALTH, NODES, NODES_REMOVE } from '../terminal/commands/service-commands.js';
import { UnprovenService, UsageError } from '../terminal/failure.js';
import { print, printError } from '../terminal/output.js';
import { parseOptions } from '../terminal/parse-options.js';
import { ownUrl, type Reached, reachService } from './local-service/reach-service.js';
import { ServiceClient } from './service-client.js';

/** Lists the nodes that share the service's database, or removes one that is lost. */
export async function runNodes(args: readonly string[]): Promise<number> {
  const [command, id, ...rest] = args;
  if (command !== 'remove') return list(args);
  if (id === undefined || id.startsWith('-')) throw new UsageError('Missing argument: NODE');
  const { url } = parseOptions(rest, NODES_REMOVE);
  const { service } = await connect(url);
  await service.json('DELETE', `/api/nodes/${encodeURIComponent(id)}`);
  print(`${id} is removed\n`);
  return 0;
}

/** Drains a node: the one that is named, else the one of this home. */
export async function runDrain(args: readonly string[]): Promise<number> {
  const [first] = args;
  const named = first === undefined || first.startsWith('-') ? undefined : first;
  const { url } = parseOptions(named === undefined ? args : args.slice(1), DRAIN);
  const { service, own } = await connect(url);
  const id = named ?? own;
  if (id === undefined) throw new UsageError('Missing argument: NODE, because this home has no "node" in troupe.json');
  const node = NodeInfo.parse(await service.json('POST', `/api/nodes/${encodeURIComponent(id)}/drain`));
  const { running } = node;
  const left = running === 1 ? 'its session has ended' : `its ${running} sessions have ended`;
  print(`${id} takes no more work, and stops ${running === 0 ? 'now' : `when ${left}`}\n`);
  return 0;
}

/**
 * Says whether the service accepts work; with `--live` only whether it answers at all. For the health checks of Docker and
 * Kubernetes: the token comes from the same configuration as the service's.
 * @throws UNAVAILABLE if no service answers, or it is still starting
 */
export async function runHealth(args: readonly string[]): Promise<number> {
  const { live = false, url } = parseOptions(args, HEALTH);
  const config = readConfig({});
  const reached = await reachService(config, { url, isAdmin: true, isUrgent: true });
  if (live && (reached instanceof ServiceClient || (reached instanceof UnprovenService && isAlive(reached)))) {
    print(`${reached instanceof ServiceClient ? reached.url : ownUrl(config)} answers\n`);
    return 0;
  }
  const service = trusted(reached, config);
  const { status, capacity, faults = [] } = Health.parse(await service.json('GET', '/api/health'));
  print(`${status}: ${capacity.running} of ${capacity.max} run, ${capacity.queued} wait\n`);
  for (const { part, reason } of faults) print(`${part}: ${reason}\n`);
  return status === 'ok' ? 0 : 1;
}

async function list(args: readonly string[]): Promise<number> {
  const { url } = parseOptions(args, NODES);
  const { service } = await connect(url);
  const nodes = NodeInfo.array().parse(await service.json('GET', '/api/nodes'));
  for (const { id, state, running, places, version, url, seen } of nodes) {
    print(`${[id, state.padEnd(8), `${running}/${places}`, version, url, seen].join('  ')}\n`);
  }
  if (nodes.length === 0) printError('The service is alone: its troupe.json has no "node".\n');
  return 0;
}

/**
 * The service at this address, else that of this home, and the id of this home's node.
 * @throws UNAVAILABLE if no service answers
 */
async function connect(url?: string): Promise<{ service: ServiceClient; own: string | undefined }> {
  const config = readConfig({});
  return { service: trusted(await reachService(config, { url, isAdmin: true }), config), own: config.node?.id };
}

/** @throws UNAVAILABLE if it is none */
function trusted(reached: Reached, config: Config): ServiceClient {
  if (reached === null) throw new TroupeError('UNAVAILABLE', `No service answers at ${ownUrl(config)}`);
  if (reached instanceof UnprovenService) throw reached;
  return reached;
}

/** Whether it speaks as a service does. */
function isAlive({ says }: UnprovenService): boolean {
  return says === 'starting' || says === 'running';
}
