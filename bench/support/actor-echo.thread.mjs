// The runtime's side of bench/actors: an actor that answers what it is asked.
import { hostActors, hosted } from '#troupe/actors/actor-thread.js';

hostActors([
  hosted({ name: 'echo' }, () => ({
    handlers: { Echo: (payload) => payload },
    stopped: async () => undefined,
  })),
]);
