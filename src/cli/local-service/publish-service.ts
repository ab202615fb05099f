import { mkdir } from 'node:fs/promises';
import { sentenceOf } from '../../base/system-fault.js';
import { findService } from '../../client/local-service/find-service.js';
import { removeServiceFile, type ServiceFile, writeServiceFile } from '../../client/local-service/service-file.js';
import { withAddress } from '../../client/local-service/this-machine.js';
import type { Log } from '../../telemetry/log.js';
import { typedCommand } from '../../terminal/typed-command.js';

/**
 * Writes the file by which clients find a service into its home, the first of the folders, and into the others unless
 * another service runs there. A folder that cannot be written is logged: the service works without.
 * @returns removes the files again; idempotent
 */
export async function publishService(
  [home, ...others]: readonly string[],
  { url, ...facts }: ServiceFile,
  log: Log,
): Promise<() => Promise<void>> {
  const service = { ...facts, url: await withAddress(url), ...(home === undefined ? {} : { ownHome: home }) };
  const written: string[] = [];
  const write = async (folder: string) => {
    await mkdir(folder, { recursive: true });
    await writeServiceFile(folder, service);
    written.push(folder);
  };
  try {
    if (home !== undefined) await write(home);
    for (const other of others) if ((await findService(other)) === null) await write(other);
  } catch (error) {
    log(`Commands such as ${typedCommand()} mcp cannot find this service: ${sentenceOf(error)}`);
  }
  return async () => {
    for (const folder of written.splice(0)) await removeServiceFile(folder, service).catch(() => undefined);
  };
}
