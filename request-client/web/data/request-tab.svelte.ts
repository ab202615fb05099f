import type { FormChange, RequestForm, ScopeValues, SentView } from '../../protocol/request-window.js';
import { FormTab } from './form-tab.svelte.js';

export type RequestPart = 'params' | 'headers' | 'body' | 'auth' | 'before' | 'after' | 'settings';

/** A request in a tab, and its last answer. */
export class RequestTab extends FormTab<RequestForm, FormChange> {
  readonly kind = 'request';
  /** The last answer, unless the request was cancelled after it. */
  sent = $state.raw<SentView | null>(null);
  /** The last request was cancelled before a response arrived. */
  cancelled = $state(false);
  part = $state<RequestPart>('params');

  constructor(form: RequestForm, changed: (edit: FormChange) => void) {
    super('items', form, changed);
    this.part = firstPart(form);
  }

  /** Shows an answer. */
  show(sent: SentView): void {
    this.sent = sent;
    this.cancelled = false;
  }

  /** `onValues` receives the variables after the request. */
  async send(onValues: (values: ScopeValues) => void): Promise<void> {
    let answered = false;
    const stopped = await this.while('send', async (line) => {
      if (line.kind !== 'sent') return;
      answered = true;
      this.show(line.sent);
      onValues(line.values);
    });
    // The answer before would look like the one of this request.
    if (stopped && !answered) [this.sent, this.cancelled] = [null, true];
    await this.lookAtToken();
  }
}

/** The first part with content. */
function firstPart({ params, headers, body }: RequestForm): RequestPart {
  if (body.mode !== 'none') return 'body';
  if (params.length > 0) return 'params';
  return headers.length > 0 ? 'headers' : 'params';
}
