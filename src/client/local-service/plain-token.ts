import { hostOf, isThisMachine } from './this-machine.js';

/**
 * What to warn of where an access token goes to a service by HTTP without TLS: everyone on the way can read it. Null where it
 * stays on this machine, or is encrypted.
 */
export function plainTokenWarning(url: string): string | null {
  if (!/^http:/i.test(url) || !URL.canParse(url) || isThisMachine(hostOf(url))) return null;
  return `The access token goes to ${hostOf(url)} unencrypted: use an https:// address`;
}
