import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';

/** Every address of a name. */
export type LookUp = (
  name: string,
  answer: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const systemLookUp: LookUp = (name, answer) => lookup(name, { all: true }, answer);

/**
 * A look-up for one connection, judged by each address that the name has at this moment: a name that leads somewhere closed
 * with one of them is refused as a whole.
 * @param refusal the error for an address that may not be reached, or null
 */
export function guardedLookup(
  refusal: (address: string, name: string) => Error | null,
  lookUp: LookUp = systemLookUp,
): LookupFunction {
  return (name, { all }, done) => {
    lookUp(name, (error, addresses) => {
      if (error !== null) return done(error, '', 0);
      const why = addresses.map(({ address }) => refusal(address, name)).find((one) => one !== null);
      const [first] = addresses;
      if (why !== undefined && why !== null) return done(why, '', 0);
      if (first === undefined) return done(Object.assign(new Error('it has no address'), { code: 'ENOTFOUND' }), '', 0);
      if (all === true) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };
}

/**
 * Judges a connection by the addresses that it really has, before a byte has passed: what leads to an address of this
 * machine shows only then.
 * @param refusal the error to end it with, or null
 */
export function guardConnection(
  socket: Socket,
  refusal: (localAddress: string | undefined, remoteAddress: string | undefined) => Error | null,
): void {
  const judge = (): void => {
    const why = refusal(socket.localAddress, socket.remoteAddress);
    if (why !== null) socket.destroy(why);
  };
  // First of all listeners: the request that waits to be written is another.
  if (socket.connecting) socket.prependOnceListener('connect', judge);
  else judge();
}
