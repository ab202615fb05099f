import type { FormChange, RequestForm, ScopeValues, SentView } from '../../../src/protocol/requests/request-window.js';
import { FormTab } from './form-tab.svelte.js';

export type RequestPart = 'params' | 'headers' | 'body' | 'auth' | 'before' | 'after' | 'settings';

/** A request in a tab, and its last answer. */
export class RequestTab extends FormTab<RequestForm, FormChange> {
  readonly kind = 'request';
  sent = $state.raw<SentView | null>(null);
  part = $state<RequestPart>('params');

  constructor(form: RequestForm, changed: (edit: FormChange) => void) {
    super('items', form, changed);
    this.part = firstPart(form);
  }

  /** `onValues` receives the variables after the request. */
  async send(onValues: (values: ScopeValues) => void): Promise<void> {
    await this.while('send', async (line) => {
      if (line.kind !== 'sent') return;
      this.sent = line.sent;
      onValues(line.values);
    });
    await this.lookAtToken();
  }
}

/** The first part with content. */
function firstPart({ params, headers, body }: RequestForm): RequestPart {
  if (body.mode !== 'none') return 'body';
  if (params.length > 0) return 'params';
  return headers.length > 0 ? 'headers' : 'params';
}
