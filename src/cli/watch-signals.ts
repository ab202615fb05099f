/** The first two signals to end that a process gets. */
export interface SignalWatch {
  readonly first: Promise<NodeJS.Signals>;
  readonly second: Promise<NodeJS.Signals>;
  release(): void;
}

/** Listens for SIGINT and SIGTERM until it is released. */
export function watchSignals(): SignalWatch {
  const resolvers: ((signal: NodeJS.Signals) => void)[] = [];
  const next = () => new Promise<NodeJS.Signals>((resolve) => resolvers.push(resolve));
  const [first, second] = [next(), next()];
  const onSignal = (signal: NodeJS.Signals) => resolvers.shift()?.(signal);
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    first,
    second,
    release() {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
}
