// All that the service knows of the request client: what `Request.run` of scripts takes, rows of data files, and its commands.
export { type DataRow, readDataRows } from './engine/collection-run/data-rows.js';
export { Routes } from './engine/connection/routes.js';
export { requestsModule } from './engine/flow/requests-module.js';
export { type ServiceReachOptions, serviceReach } from './engine/flow/service-reach.js';

/** `troupe requests ARGS...`. Loads the commands, and with them the window. @returns the exit code */
export async function runRequests(args: readonly string[]): Promise<number> {
  return await (await import('./commands/requests.js')).runRequests(args);
}
