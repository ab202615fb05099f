/**
 * The current time for ages and durations, in milliseconds; updated every second. While the page is not live it stands
 * still: what was running then may have ended.
 */
class Clock {
  now = $state(Date.now());
  #runs = true;

  constructor() {
    setInterval(() => {
      if (this.#runs) this.now = Date.now();
    }, 1000);
  }

  stop(): void {
    this.#runs = false;
  }

  start(): void {
    this.#runs = true;
    this.now = Date.now();
  }
}

export const clock = new Clock();
