import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';

/** The lowest: what is left of the machine. */
const NICE = 19;

/**
 * Viewers in a process of their own, so that what they cost is not counted as the service's. A service's viewers sit at other
 * machines; here they take from its own only what it leaves. Give it back with `close`.
 */
export async function streamViewers() {
  const child = fork(new URL('./stream-viewers.process.mjs', import.meta.url));
  setPriority(child.pid, NICE);
  const ask = async (order) => {
    child.send(order);
    const [answer] = await once(child, 'message');
    return answer;
  };
  return {
    /** Opens a WebSocket for each list of requests, which are sent on it. */
    open: (url, asked) => ask({ type: 'open', url, asked }),
    /** Of all viewers since it was asked last: `late`, milliseconds from each line's making to its reading, and `frames`. */
    samples: () => ask({ type: 'samples' }),
    leave: () => ask({ type: 'leave' }),
    async close() {
      const closed = once(child, 'close');
      child.kill();
      await closed;
    },
  };
}
