const BEAT_MS = 5000;

/** Whether the client process answers. */
class Connection {
  lost = $state(false);

  /** Asks from time to time, so that an end is seen before the next edit. @returns the function that stops it */
  watch(): () => void {
    const timer = setInterval(() => {
      fetch('/', { method: 'HEAD' }).then(
        () => (this.lost = false),
        () => (this.lost = true),
      );
    }, BEAT_MS);
    return () => clearInterval(timer);
  }
}

export const connection = new Connection();
