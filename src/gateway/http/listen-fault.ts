import { TroupeError } from '../../protocol/errors.js';
import type { ListenPlace } from './http-server.js';

/** Why an address could not be listened on. @param code of Node's error; empty where there is none */
export function listenFault({ host, port }: ListenPlace, code: string): TroupeError {
  const place = `${host}:${port}`;
  const details = { host, port, reason: code };
  switch (code) {
    case 'EADDRINUSE':
      return new TroupeError(
        'UNAVAILABLE',
        `Another program already listens on ${place}; stop it, or choose another port (0 takes a free one)`,
        details,
      );
    case 'EACCES':
      return new TroupeError('UNAVAILABLE', `This user may not listen on ${place}; choose a port above 1023`, details);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new TroupeError('UNAVAILABLE', `${host} is not an address of this machine`, details);
    default:
      return new TroupeError('UNAVAILABLE', `Cannot listen on ${place}${code ? ` (${code})` : ''}`, details);
  }
}
