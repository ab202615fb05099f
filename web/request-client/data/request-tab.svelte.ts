import type { FormChange, RequestForm, ScopeValues, SentView } from '../../../src/protocol/requests/request-window.js';
import { call } from './client.js';
import { dialogs } from './dialogs.svelte.js';
import { FormTab } from './form-tab.svelte.js';
import { LiveAnswer } from './live-answer.svelte.js';

export type RequestPart = 'params' | 'headers' | 'body' | 'auth' | 'before' | 'after' | 'settings' | 'docs';

/** A request in a tab, and its last answer. */
export class RequestTab extends FormTab<RequestForm, FormChange> {
  readonly kind = 'request';
  sent = $state.raw<SentView | null>(null);
  /** The id of the answer that was opened from elsewhere, such as a run. */
  opened = $state.raw<string | null>(null);
  /** The event stream or the WebSocket of the last answer. */
  live = $state.raw<LiveAnswer | null>(null);
  part = $state<RequestPart>('params');
  /** What is written for an open WebSocket. */
  message = $state('');
  messageType = $state<'text' | 'binary'>('text');

  constructor(form: RequestForm, changed: (edit: FormChange) => void) {
    super('items', form, changed);
    this.part = firstPart(form);
  }

  /** Shows an earlier answer. */
  show(sent: SentView): void {
    this.sent = sent;
    this.opened = sent.id;
  }

  /** `onValues` receives the variables after the request. */
  async send(onValues: (values: ScopeValues) => void): Promise<void> {
    if (this.running !== null) return;
    let live: LiveAnswer | null = null;
    await this.while('send', async (line) => {
      if (line.kind === 'opened') {
        live = new LiveAnswer(line.head);
        this.live = live;
      } else if (line.kind === 'messages') this.live?.add(line.messages);
      else if (line.kind === 'sent') {
        this.sent = line.sent;
        onValues(line.values);
      }
    });
    this.live?.end();
    // What was open before does not belong to this answer.
    if (live === null) this.live = null;
    await this.lookAtToken();
  }

  /** Ends an open stream, and keeps what came so far as the answer; cancels what is not open yet, and says so. */
  async stop(): Promise<void> {
    const { stopped } = await call<{ stopped: boolean }>('POST', `items/${this.id}/stop`);
    // What is not sent yet, or not a request.
    if (!stopped) this.cancel();
  }

  /** Saves an answer of this start with the request. @returns whether that was done */
  async addExample(sentId: string, name: string): Promise<boolean> {
    const made = await this.#changeExamples('POST', '', { sentId, name });
    if (made) dialogs.say(`Saved ${name} as an example of ${this.form.name}`);
    return made;
  }

  async renameExample(index: number, name: string): Promise<void> {
    await this.#changeExamples('PATCH', `/${index}`, { name });
  }

  async removeExample(index: number): Promise<void> {
    const { name } = this.form.examples[index] ?? {};
    if (await this.#changeExamples('DELETE', `/${index}`)) dialogs.say(`Deleted ${name}; Edit > Undo restores it`);
  }

  async #changeExamples(method: string, path: string, body?: object): Promise<boolean> {
    const done = await dialogs.attempt(async () => {
      await this.flush();
      await call(method, `items/${this.id}/examples${path}`, body);
      await this.changedByClient();
      return true;
    });
    return done === true;
  }

  /** Sends a message over the open WebSocket. @throws ClientError */
  async sendMessage(type: 'text' | 'binary', data: string): Promise<void> {
    await call('POST', `items/${this.id}/messages`, { type, data });
  }
}

/** The first part with content. */
function firstPart({ params, headers, body }: RequestForm): RequestPart {
  if (body.mode !== 'none') return 'body';
  if (params.length > 0) return 'params';
  return headers.length > 0 ? 'headers' : 'params';
}
