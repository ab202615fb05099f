import { PRODUCT_NAME } from '../protocol/product-name.js';
import { printError } from '../terminal/output.js';
import type { ServiceClient } from './service-client.js';
import { readVersion } from './version.js';

/** Says on standard error, in one line, that the service is of another version than this command, where it says its version. */
export function warnOfOtherVersion(client: ServiceClient): void {
  const [own, other] = [readVersion(), client.version];
  if (other === null || other === own) return;
  printError(
    `${PRODUCT_NAME}: this command is version ${own}, the service at ${client.url} is ${other}. Install the same version of both.\n`,
  );
}
