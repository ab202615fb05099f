import { connect, type LookupFunction, type Socket } from 'node:net';
import { onAbort } from '../../base/deadline.js';
import type { EgressRules } from '../../net-policy/egress.js';

/** Why a place was not reached: a rule closes it, or nothing answers there. */
export type ReachFault = 'refused' | 'unreachable';

/** All addresses of a name; none where it has none. Rejects with the signal's reason. */
export type LookUp = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

/**
 * Connects to a place that the rules leave open. A name is looked up here, once, and only addresses that were admitted
 * are connected to: a name that changes its mind gains nothing. The signal bounds all of it.
 */
export async function reach(
  rules: EgressRules,
  host: string,
  port: number,
  signal: AbortSignal,
  lookUp: LookUp,
): Promise<Socket | ReachFault> {
  const route = rules.route(host, port);
  switch (route.kind) {
    case 'refused':
      return 'refused';
    case 'loopback':
      return notClosed(rules, port, await connectTo(route.addresses, port, signal));
    case 'address': {
      if (rules.refusal(route.address, host, port) !== null) return 'refused';
      return notClosed(rules, port, await connectTo([route.address], port, signal));
    }
    case 'name': {
      const found = await lookUp(route.name, signal);
      if (found.length === 0) return 'unreachable';
      const open = found.filter((address) => rules.refusal(address, host, port) === null);
      return open.length === 0 ? 'refused' : notClosed(rules, port, await connectTo(open, port, signal));
    }
  }
}

/**
 * Interfaces that are down have addresses too, and come and go; but a connection to any address of this machine comes from
 * that very address. What was closed while the connection was being opened is refused, too. Not a byte has passed yet.
 */
function notClosed(rules: EgressRules, port: number, reached: Socket | ReachFault): Socket | ReachFault {
  if (typeof reached === 'string' || !rules.closes(port, reached.localAddress, reached.remoteAddress)) return reached;
  reached.destroy();
  return 'refused';
}

function connectTo(addresses: readonly string[], port: number, signal: AbortSignal): Promise<Socket | ReachFault> {
  const list = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  const known: LookupFunction = (_name, _options, done) => done(null, list);
  return new Promise((resolve) => {
    const remote = connect({
      // A name makes the socket ask for addresses and try one after another; these are all it gets.
      host: 'admitted.invalid',
      port,
      lookup: known,
      autoSelectFamily: true,
      allowHalfOpen: true,
      noDelay: true,
    });
    const forget = onAbort(signal, () => remote.destroy(new Error('No connection in time')));
    const onError = (): void => {
      forget();
      resolve('unreachable');
    };
    remote.once('error', onError);
    remote.once('connect', () => {
      remote.off('error', onError);
      forget();
      resolve(remote);
    });
  });
}
