import { z } from 'zod';
import { startLimit } from '../../base/deadline.js';
import { TroupeError } from '../../protocol/errors.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import { devToolsOf } from '../tunnel/devtools-tunnel.js';

const CALL_MS = 60_000;
const Message = z.object({
  id: z.number().optional(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.object({ message: z.string() }).optional(),
});
const Targets = z.object({ targetInfos: z.array(z.object({ targetId: z.string(), type: z.string() })) });
const Attached = z.object({ sessionId: z.string() });

export type Call = (method: string, params?: object) => Promise<{ readonly [name: string]: unknown }>;

/** Lets `work` call the DevTools protocol on the first page of a session, through the filter for clients. */
export async function withPage<T>(id: string, sessions: Sessions, work: (call: Call) => Promise<T>): Promise<T> {
  const far = devToolsOf(id, sessions);
  const waiting = new Map<number, (text: z.infer<typeof Message>) => void>();
  let last = 0;
  const call = (method: string, params: object = {}, sessionId?: string): ReturnType<Call> =>
    new Promise((resolve, reject) => {
      const number = ++last;
      const fail = (message: string): void => reject(new TroupeError('ACTION_FAILED', `${method}: ${message}`));
      const cancelTimer = startLimit(CALL_MS, () => fail(`no answer within ${CALL_MS / 1000} s`));
      waiting.set(number, ({ result, error }) => {
        cancelTimer();
        waiting.delete(number);
        if (error === undefined) resolve(result ?? {});
        else fail(error.message);
      });
      const command = { id: number, method, params, ...(sessionId === undefined ? {} : { sessionId }) };
      far.receive(Buffer.from(JSON.stringify(command)), true);
    });
  try {
    await far.start({
      send: (message) => {
        const parsed = Message.safeParse(JSON.parse(Buffer.from(message).toString('utf8')));
        if (parsed.success && parsed.data.id !== undefined) waiting.get(parsed.data.id)?.(parsed.data);
      },
      end: (_, reason) => {
        for (const answer of [...waiting.values()]) answer({ error: { message: reason || 'the session has ended' } });
      },
    });
    const { targetInfos } = Targets.parse(await call('Target.getTargets'));
    const page = targetInfos.find(({ type }) => type === 'page');
    if (page === undefined) throw new TroupeError('WORKER_LOST', 'The browser of the session has no page');
    const attach = await call('Target.attachToTarget', { targetId: page.targetId, flatten: true });
    const { sessionId } = Attached.parse(attach);
    return await work((method, params) => call(method, params, sessionId));
  } finally {
    far.close();
  }
}
