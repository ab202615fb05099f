import { TroupeError } from '../../protocol/errors.js';
import { sandboxRemedy } from './chromium-sandbox.js';

const SANDBOX =
  /No usable sandbox|SUID sandbox helper|Failed to move to new namespace|zygote_host_impl_linux|sandbox\/linux\/services\/credentials/;
const LIBRARY = /error while loading shared libraries: (\S+?):/;
const ROOT = /Running as root without --no-sandbox/;

/** The error for a Chromium that ended before it could be used: what happened, why, and the command that fixes it. */
export async function startFailure(binary: string, ended: string, words: string): Promise<TroupeError> {
  const details = { binary, ended, log: words };
  const library = LIBRARY.exec(words)?.[1];
  if (library !== undefined) {
    return unavailable(`${binary} lacks the library ${library}; apt-get install chromium brings it`, details);
  }
  if (ROOT.test(words)) {
    return unavailable(`${binary} refuses to run as root and the browser's user is root; name a normal user`, details);
  }
  if (SANDBOX.test(words)) {
    return unavailable(
      `Chromium's sandbox cannot start here, since user namespaces are refused: ${await sandboxRemedy()}`,
      details,
    );
  }
  const [line] = words.split('\n').slice(-1);
  return unavailable(
    `Chromium ${ended} before it could be used${line === undefined || line === '' ? '' : `: ${line}`}`,
    details,
  );
}

function unavailable(message: string, details: Record<string, string>): TroupeError {
  return new TroupeError('UNAVAILABLE', message, details);
}
