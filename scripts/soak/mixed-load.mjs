const FORM = 'data:text/html,<title>form</title><input aria-label=Name><button>Save</button>';
const FAILING = ['throw new Error("no")', 'match(1, 2)', `agent.value('{input}Nowhere')`];

/** Scripts, of two events each, and how much is in each of those events. */
const FILL_SCRIPTS = 2_500;
const FILL_CHARS = 300;

/** What clients of every kind do, over and over: sessions that stay, sessions that come and go, jobs, readers of events. */
export class MixedLoad {
  scripts = 0;
  jobs = 0;
  #url;
  #shop;
  #staying = [];

  constructor(url, shop) {
    this.#url = url;
    this.#shop = shop;
  }

  /**
   * Two sessions that stay for the whole time. What the service keeps of the newest, up to a bound, is filled at once, and
   * read, which it keeps too: it would look like growth for as long as it fills.
   */
  async open() {
    for (let n = 0; n < 2; n += 1) this.#staying.push((await this.#call('POST', '/api/sessions', {})).id);
    await this.#whileRead(async () => {
      for (let n = 0; n < FILL_SCRIPTS; n += 1) await this.#run(this.#staying[n % 2], `'${'x'.repeat(FILL_CHARS)}'`);
    });
  }

  /** Works for so long, and settles when all that it began has ended. */
  async cycle(durationMs) {
    const endsAt = performance.now() + durationMs;
    const goesOn = () => performance.now() < endsAt;
    await this.#whileRead(() => {
      const used = this.#staying.map((id) => this.#use(id, goesOn));
      return Promise.all([...used, this.#comeAndGo(goesOn), this.#submit(goesOn)]);
    });
  }

  async close() {
    for (const id of this.#staying.splice(0)) await this.#call('DELETE', `/api/sessions/${id}`);
  }

  /** Settles as the work does, whose events somebody reads. */
  async #whileRead(work) {
    const reading = new AbortController();
    const reader = this.#read(reading.signal);
    try {
      await Promise.race([reader, work()]);
    } finally {
      reading.abort();
    }
    await reader;
  }

  async #use(id, goesOn) {
    for (let n = 0; goesOn(); n += 1) {
      await this.#run(id, `agent.go(${JSON.stringify(n % 2 === 0 ? FORM : `${this.#shop}/`)}); agent.look()`);
      if (n % 2 === 0) await this.#run(id, `agent.act('{input}Name', 'input', 'text ${n}'); agent.look()`);
      await this.#run(id, `let kept = ${n}; File.list().length + kept`);
      await this.#run(id, FAILING[n % FAILING.length]);
      // Now and then one that its thread does not survive.
      if (n % 10 === 9) await this.#run(id, 'const all = []; for (;;) all.push("x".repeat(100000) + all.length)');
    }
  }

  async #comeAndGo(goesOn) {
    while (goesOn()) {
      const { id } = await this.#call('POST', '/api/sessions', {});
      await this.#run(id, `agent.go(${JSON.stringify(FORM)}); agent.screenshot('form')`);
      await this.#call('DELETE', `/api/sessions/${id}`);
      await this.#call('DELETE', `/api/sessions/${id}?purge=true`);
    }
  }

  async #submit(goesOn) {
    while (goesOn()) {
      const job = { prompt: 'soak', flowFiles: ['examples/search.js'], maxIterations: 0, args: { base: this.#shop } };
      const { id, state, error } = await this.#call('POST', '/api/sessions/run', job);
      if (state !== 'completed') throw new Error(`A job ended ${state}: ${JSON.stringify(error)}`);
      this.jobs += 1;
      await (await fetch(`${this.#url}/api/jobs/${id}/download`)).arrayBuffer();
      await this.#call('DELETE', `/api/sessions/${id}`);
    }
  }

  async #read(signal) {
    try {
      const response = await fetch(`${this.#url}/api/events`, { signal });
      for await (const chunk of response.body) if (chunk.length === 0) return;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Whatever the script comes to; a fault of the service is thrown. */
  async #run(id, js) {
    const response = await fetch(`${this.#url}/sessions/${id}/proxy`, { method: 'POST', body: JSON.stringify({ js }) });
    const text = await response.text();
    if (response.status !== 200 && response.status !== 422) throw new Error(`Answered ${response.status}: ${text}`);
    this.scripts += 1;
  }

  async #call(method, path, body) {
    const response = await fetch(this.#url + path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return JSON.parse(text);
  }
}
