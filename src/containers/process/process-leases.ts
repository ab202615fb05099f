import { readdir } from 'node:fs/promises';
import { asAbsent } from '../../base/system-fault.js';
import { leaseOfFolder } from '../lease-name.js';
import { leaseNamed } from './process-identity.js';
import { listProcesses } from './process-table.js';

/** The leases that have a folder under this one, or a process that names one which is gone. */
export async function leasesUnder(root: string): Promise<ReadonlySet<string>> {
  const folders = await readdir(root).catch(asAbsent);
  const named = (await listProcesses()).map(({ commandLine }) => leaseNamed(commandLine, root));
  return new Set([...(folders ?? []), ...named].flatMap((name) => (name === null ? [] : (leaseOfFolder(name) ?? []))));
}
