import type { CdpTargetFilter } from '../agent-js/browser/cdp.js';
import { settlesWithin } from '../base/deadline.js';
import { TroupeError } from '../protocol/errors.js';
import type { CdpConnection } from './connection/cdp-connection.js';

/** Pages, and frames that have processes of their own. */
const WITH_PROCESSES: CdpTargetFilter = [
  { type: 'page', exclude: false },
  { type: 'iframe', exclude: false },
  { exclude: true },
];

/**
 * Ends the processes of all pages of a browser; the pages stay, crashed. A page that is only closed runs on for a moment,
 * and may ask a server for what a rule of an earlier connection would have answered.
 *
 * @throws WORKER_LOST if they do not end within `ms`
 */
export async function endPages(connection: CdpConnection, ms: number): Promise<void> {
  const { targetInfos } = await connection.send('Target.getTargets', { filter: WITH_PROCESSES });
  const ended = targetInfos.map(async ({ targetId }) => {
    // One that is gone meanwhile cannot be attached to.
    const attached = await connection.send('Target.attachToTarget', { targetId, flatten: true }).catch(() => null);
    if (attached === null) return;
    const { sessionId } = attached;
    await processEnded(connection, sessionId, ms);
    await connection.send('Target.detachFromTarget', { sessionId }).catch(() => undefined);
  });
  if (await settlesWithin(Promise.all(ended), ms)) return;
  throw new TroupeError('WORKER_LOST', 'A page of the browser could not be ended');
}

function processEnded(connection: CdpConnection, session: string, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const stop = connection.listen((event) => {
      const crashed = event.method === 'Inspector.targetCrashed' && event.session === session;
      const gone = event.method === 'Target.detachedFromTarget' && event.params.sessionId === session;
      if (crashed || gone) end();
    });
    const end = (): void => {
      stop();
      resolve();
    };
    // Answered only if it fails, since the process has ended before.
    connection.send('Page.crash', {}, { session, timeoutMs }).catch(end);
  });
}
