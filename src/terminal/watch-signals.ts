import { heedNohup, ignoresHangUp } from './hang-up.js';

/** The first two signals to end that a process gets. */
export interface SignalWatch {
  readonly first: Promise<NodeJS.Signals>;
  readonly second: Promise<NodeJS.Signals>;
  release(): void;
}

/** Has the second signal end the process at once, as it would without the watch. */
export function endAtSecond(signals: SignalWatch): void {
  void signals.second.then((signal) => {
    signals.release();
    process.kill(process.pid, signal);
  });
}

/**
 * Listens for SIGINT, SIGTERM, and SIGHUP until it is released: nothing else in Troupe listens to them. SIGHUP is a terminal
 * that was closed, or a lost connection, and comes more than once then, from the shell and from the system: it is never the
 * second signal. Below `nohup` it is ignored. On Windows it is a closed console, and the system ends the
 * process 10 s later.
 */
export function watchSignals(): SignalWatch {
  const resolvers: ((signal: NodeJS.Signals) => void)[] = [];
  const next = () => new Promise<NodeJS.Signals>((resolve) => resolvers.push(resolve));
  const [first, second] = [next(), next()];
  const onSignal = (signal: NodeJS.Signals) => {
    if (signal !== 'SIGHUP' || resolvers.length === 2) resolvers.shift()?.(signal);
  };
  const names: NodeJS.Signals[] = ['SIGINT', 'SIGTERM'];
  if (!ignoresHangUp()) names.push('SIGHUP');
  else heedNohup();
  for (const name of names) process.on(name, onSignal);
  return {
    first,
    second,
    release() {
      for (const name of names) process.off(name, onSignal);
    },
  };
}
