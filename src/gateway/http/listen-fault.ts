import { TroupeError } from '../../protocol/errors.js';
import type { ListenAddress } from './http-server.js';

/** The error for an address that cannot be listened on. @param code of Node's error; '' if unknown */
export function listenFault({ host, port }: ListenAddress, code: string): TroupeError {
  const address = `${host}:${port}`;
  const details = { host, port, reason: code };
  switch (code) {
    case 'EADDRINUSE':
      return new TroupeError(
        'UNAVAILABLE',
        `Another program already listens on ${address}; stop it, or choose another port (0 takes a free one)`,
        details,
      );
    case 'EACCES':
      return new TroupeError(
        'UNAVAILABLE',
        `This user may not listen on ${address}; choose a port above 1023`,
        details,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new TroupeError('UNAVAILABLE', `${host} is not an address of this machine; choose another host`, details);
    default:
      return new TroupeError('UNAVAILABLE', `Cannot listen on ${address}${code ? ` (${code})` : ''}`, details);
  }
}
