import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';

/** Resolves all addresses of a name. */
export type Lookup = (
  name: string,
  answer: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** The system's resolver. */
export const systemLookup: Lookup = (name, answer) => lookup(name, { all: true }, answer);

/**
 * A DNS lookup for one connection that checks each address of the name: if one of them is blocked, the name is refused
 * as a whole.
 * @param refusal the error for a blocked address, or null
 */
export function guardedLookup(
  refusal: (address: string, name: string) => Error | null,
  lookupAll: Lookup = systemLookup,
): LookupFunction {
  return (name, { all }, done) => {
    lookupAll(name, (error, addresses) => {
      if (error !== null) return done(error, '', 0);
      const refused = addresses.map(({ address }) => refusal(address, name)).find((one) => one !== null);
      const [first] = addresses;
      if (refused !== undefined && refused !== null) return done(refused, '', 0);
      if (first === undefined) return done(Object.assign(new Error('it has no address'), { code: 'ENOTFOUND' }), '', 0);
      if (all === true) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };
}

/**
 * Checks a connection by its actual addresses before any byte is sent: only these reveal a connection to an address of
 * this machine.
 * @param refusal the error to end it with, or null
 */
export function guardConnection(
  socket: Socket,
  refusal: (localAddress: string | undefined, remoteAddress: string | undefined) => Error | null,
): void {
  const check = (): void => {
    const error = refusal(socket.localAddress, socket.remoteAddress);
    if (error !== null) socket.destroy(error);
  };
  // Before all other listeners, since one of them sends the waiting request.
  if (socket.connecting) socket.prependOnceListener('connect', check);
  else check();
}
