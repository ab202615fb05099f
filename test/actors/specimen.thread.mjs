// A thread for the tests of the runtime: it hosts one kind of actor that does what it is told.
import { later } from '#troupe/actors/actor.js';
import { hostActors, hosted } from '#troupe/actors/actor-thread.js';
import { TroupeError } from '#troupe/protocol/errors.js';

const given = (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
const blockForEver = () => {
  for (;;);
};
const never = () => new Promise(() => undefined);

hostActors([
  hosted({ name: 'specimen' }, (args, context) => {
    if (args?.hello !== undefined) context.emit(args.hello);
    return {
      handlers: {
        Echo: (payload) => payload,
        Args: () => args,
        Fail: ({ code, message }) => {
          throw new TroupeError(code, message, { from: 'specimen' });
        },
        Throw: () => {
          throw new RangeError('not one of ours');
        },
        Unsendable: () => () => 'a function',
        Hold: (_, { signal }) => given(signal),
        HoldLater: (_, { signal }) => later(given(signal)),
        Hang: () => never(),
        // After the answer has left, which goes with the microtask that it queues.
        Block: () => queueMicrotask(() => queueMicrotask(blockForEver)),
        Emit: ({ events }) => {
          for (const event of events) context.emit(event);
        },
        Crash: () => context.crash(new TroupeError('WORKER_LOST', 'told to')),
        End: () => context.end(),
        Shutdown: () => context.end('shutdown'),
        ExitThread: () => process.exit(3),
        EatHeap: () => {
          const hoard = [];
          for (;;) hoard.push(new Array(100_000).fill(Math.random()));
        },
      },
      stopped: async (termination) => {
        context.emit(`stopped: ${termination.reason}`);
        if (args?.hangOnStop) await never();
      },
    };
  }),
]);
