/** The current time for ages and durations, in milliseconds; updated every second. */
class Clock {
  now = $state(Date.now());

  constructor() {
    setInterval(() => {
      this.now = Date.now();
    }, 1000);
  }
}

export const clock = new Clock();
