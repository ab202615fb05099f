/** The time for ages and durations, in milliseconds; moves on once a second. */
class Clock {
  now = $state(Date.now());

  constructor() {
    setInterval(() => {
      this.now = Date.now();
    }, 1000);
  }
}

export const clock = new Clock();
