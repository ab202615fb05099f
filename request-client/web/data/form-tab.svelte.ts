import type { ErrorBody } from '#troupe/protocol/errors.js';
import type { AuthForm, InheritedAuth, ProgressLine, TokenView, ValuesByName } from '../../protocol/request-window.js';
import { ClientError, call, follow } from './client.js';

const QUIET_MS = 250;
/** Edits are sent after this also while typing goes on, so that a kill costs less than a second. */
const LONGEST_MS = 500;

/** The common part of all forms in tabs. */
export interface ItemForm {
  readonly id: string;
  readonly name: string;
  readonly auth: AuthForm;
  readonly inherited: InheritedAuth | null;
  readonly folderValues: ValuesByName;
}

/** A running operation of a tab. `login` is the URL of the login page while it is open. */
export interface Running {
  readonly what: 'send' | 'token' | 'run';
  readonly login: string | null;
  readonly stop: AbortController;
}

/** A request or a folder in a tab. Edits are shown at once and sent to the client when typing pauses. */
export abstract class FormTab<Form extends ItemForm, Change extends { readonly auth?: AuthForm | undefined }> {
  readonly id: string;
  form = $state.raw() as Form;
  running = $state.raw<Running | null>(null);
  token = $state.raw<TokenView>({ state: 'none' });
  tokenError = $state.raw<ErrorBody | null>(null);
  readonly #path: string;
  readonly #changed: (edit: Change) => void;
  #pending: Partial<Change> = {};
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the oldest pending edit was made, by the clock of the page. */
  #since: number | null = null;
  #sent: Promise<unknown> = Promise.resolve();

  /** @param changed called for every edit, at once */
  constructor(path: 'items' | 'groups', form: Form, changed: (edit: Change) => void) {
    this.id = form.id;
    this.form = form;
    this.#path = `${path}/${form.id}`;
    this.#changed = changed;
    void this.lookAtToken();
  }

  edit(edit: Change): void {
    this.form = { ...this.form, ...edit };
    this.#pending = { ...this.#pending, ...edit };
    this.#changed(edit);
    this.#since ??= performance.now();
    const left = LONGEST_MS - (performance.now() - this.#since);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.flush(), Math.max(0, Math.min(QUIET_MS, left)));
  }

  /** Settles when the client has every edit. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    const edit = this.#pending;
    this.#pending = {};
    this.#since = null;
    if (Object.keys(edit).length > 0) {
      this.#sent = this.#sent.then(() => call('PATCH', this.#path, edit));
      await this.#sent;
      if (edit.auth !== undefined) await this.lookAtToken();
    }
    await this.#sent;
  }

  /** Loads the form again: something other than this tab changed it. */
  async reload(): Promise<void> {
    const form = await call<Form>('GET', this.#path);
    // Edits made meanwhile are not sent yet.
    this.form = { ...form, ...this.#pending };
  }

  async lookAtToken(): Promise<void> {
    this.token = await call<TokenView>('GET', `items/${this.id}/token`);
  }

  async forgetToken(): Promise<void> {
    this.tokenError = null;
    try {
      this.token = await call<TokenView>('DELETE', `items/${this.id}/token`);
    } catch (error) {
      this.tokenError = faultOf(error);
    }
  }

  /** Replaces the token by a new one. */
  async newToken(): Promise<void> {
    await this.while('token', async (line) => {
      if (line.kind === 'token') this.token = line.token;
    });
  }

  cancel(): void {
    this.running?.stop.abort();
  }

  /**
   * Runs an operation of the client, one at a time. `onLine` receives every line but those of logins.
   * @returns whether {@link cancel} ended it
   */
  protected async while(what: Running['what'], onLine: (line: ProgressLine) => Promise<void>): Promise<boolean> {
    if (this.running !== null) return false;
    const stop = new AbortController();
    this.running = { what, login: null, stop };
    this.tokenError = null;
    try {
      for await (const line of follow(`items/${this.id}/${what}`, stop.signal)) {
        if (line.kind === 'login') this.running = { what, login: line.url, stop };
        else if (line.kind === 'failed') this.tokenError = line.error;
        else await onLine(line);
      }
    } catch (error) {
      if (!stop.signal.aborted) this.tokenError = faultOf(error);
    } finally {
      this.running = null;
    }
    return stop.signal.aborted;
  }
}

function faultOf(error: unknown): ErrorBody {
  return error instanceof ClientError ? error.body : { error: String(error), code: 'INTERNAL' };
}
