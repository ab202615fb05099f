import type { ErrorBody } from '../../../src/protocol/errors.js';
import type { FormChange, RequestForm, SentView, TokenView } from '../../../src/protocol/request-window.js';
import { ClientError, call, follow } from './client.js';

const QUIET_MS = 250;

/** What is under way in a tab. `login` is the address of the login page while it is open. */
export type Running = {
  readonly what: 'send' | 'token';
  readonly login: string | null;
  readonly stop: AbortController;
};

export type Part = 'params' | 'headers' | 'body' | 'auth' | 'before' | 'after' | 'settings';

/** A request that is open in a tab. Edits are shown at once and told to the client when typing pauses. */
export class RequestTab {
  readonly id: string;
  form = $state.raw<RequestForm>() as RequestForm;
  sent = $state.raw<SentView | null>(null);
  running = $state.raw<Running | null>(null);
  token = $state.raw<TokenView>({ state: 'none' });
  tokenError = $state.raw<ErrorBody | null>(null);
  part = $state<Part>('params');
  #pending: FormChange = {};
  #timer: ReturnType<typeof setTimeout> | undefined;
  #told: Promise<unknown> = Promise.resolve();
  readonly #changed: (edit: FormChange) => void;

  /** @param changed hears of every edit, at once */
  constructor(form: RequestForm, changed: (edit: FormChange) => void) {
    this.id = form.id;
    this.form = form;
    this.#changed = changed;
    this.part = firstPart(form);
    void this.lookAtToken();
  }

  edit(edit: FormChange): void {
    this.form = { ...this.form, ...edit };
    this.#pending = { ...this.#pending, ...edit };
    this.#changed(edit);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.flush(), QUIET_MS);
  }

  /** The client knows every edit when this settles. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    const edit = this.#pending;
    this.#pending = {};
    if (Object.keys(edit).length > 0) {
      this.#told = this.#told.then(() => call('PATCH', `items/${this.id}`, edit));
      await this.#told;
      if (edit.auth !== undefined) await this.lookAtToken();
    }
    await this.#told;
  }

  async lookAtToken(): Promise<void> {
    this.token = await call<TokenView>('GET', `items/${this.id}/token`);
  }

  /** Takes the form anew: something else than this tab changed it. */
  async reload(): Promise<void> {
    clearTimeout(this.#timer);
    this.#pending = {};
    this.form = await call<RequestForm>('GET', `items/${this.id}`);
  }

  cancel(): void {
    this.running?.stop.abort();
  }

  async forgetToken(): Promise<void> {
    this.tokenError = null;
    try {
      this.token = await call<TokenView>('DELETE', `items/${this.id}/token`);
    } catch (error) {
      this.tokenError = bodyOf(error);
    }
  }

  /** Sends, or fetches a new token; `heard` is told what the variables are afterwards. */
  async run(what: Running['what'], heard: (values: { readonly [name: string]: string }) => void): Promise<void> {
    if (this.running !== null) return;
    const stop = new AbortController();
    this.running = { what, login: null, stop };
    this.tokenError = null;
    try {
      for await (const line of follow(`items/${this.id}/${what}`, stop.signal)) {
        if (line.kind === 'login') this.running = { what, login: line.url, stop };
        else if (line.kind === 'sent') {
          this.sent = line.sent;
          heard(line.values);
        } else if (line.kind === 'token') this.token = line.token;
        else this.tokenError = line.error;
      }
    } catch (error) {
      if (!stop.signal.aborted) this.tokenError = bodyOf(error);
    } finally {
      this.running = null;
    }
    if (what === 'send') await this.lookAtToken();
  }
}

function bodyOf(error: unknown): ErrorBody {
  return error instanceof ClientError ? error.body : { error: String(error), code: 'INTERNAL' };
}

/** Where there is something to see. */
function firstPart({ params, headers, body }: RequestForm): Part {
  if (body.mode !== 'none') return 'body';
  if (params.length > 0) return 'params';
  return headers.length > 0 ? 'headers' : 'params';
}
