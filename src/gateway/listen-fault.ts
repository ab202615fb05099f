import { createServer } from 'node:net';
import { errorCode } from '../base/system-fault.js';
import { TroupeError } from '../protocol/errors.js';

/** Why an address could not be listened on: uWebSockets.js only says that it could not, so Node is asked. */
export async function listenFault(host: string, port: number): Promise<TroupeError> {
  const code = await new Promise<string>((resolve) => {
    const probe = createServer();
    probe.once('error', (error) => resolve(errorCode(error) ?? 'unknown'));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve('')));
  });
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
