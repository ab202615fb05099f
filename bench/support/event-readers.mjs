import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';

/** The lowest: clients sit at machines of their own, here they take from the service's only what it leaves. */
const NICE = 19;

/** Readers of server-sent events in a process of their own. Give it back with `close`. */
export async function eventReaders() {
  const child = fork(new URL('./event-readers.process.mjs', import.meta.url));
  setPriority(child.pid, NICE);
  const ask = async (order) => {
    child.send(order);
    const [answer] = await once(child, 'message');
    return answer;
  };
  return {
    /**
     * Opens streams of `path`, from an address of this machine's own network.
     * @param order `{port, address, path, count, reads, again}`: whether they read, and begin again after so many events
     */
    open: (order) => ask({ type: 'open', ...order }),
    /** What was read since the start: `events`, and `whole` histories. */
    seen: () => ask({ type: 'seen' }),
    async close() {
      const closed = once(child, 'close');
      child.kill();
      await closed;
    },
  };
}
