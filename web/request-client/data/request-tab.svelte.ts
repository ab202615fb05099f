import type { FormChange, RequestForm, ScopeValues, SentView } from '../../../src/protocol/request-window.js';
import { FormTab } from './form-tab.svelte.js';

export type RequestPart = 'params' | 'headers' | 'body' | 'auth' | 'before' | 'after' | 'settings';

/** A request that is open in a tab, and the last answer to it. */
export class RequestTab extends FormTab<RequestForm, FormChange> {
  readonly kind = 'request';
  sent = $state.raw<SentView | null>(null);
  part = $state<RequestPart>('params');

  constructor(form: RequestForm, changed: (edit: FormChange) => void) {
    super('items', form, changed);
    this.part = firstPart(form);
  }

  /** `heard` is told what the variables are afterwards. */
  async send(heard: (values: ScopeValues) => void): Promise<void> {
    await this.while('send', async (line) => {
      if (line.kind !== 'sent') return;
      this.sent = line.sent;
      heard(line.values);
    });
    await this.lookAtToken();
  }
}

/** Where there is something to see. */
function firstPart({ params, headers, body }: RequestForm): RequestPart {
  if (body.mode !== 'none') return 'body';
  if (params.length > 0) return 'params';
  return headers.length > 0 ? 'headers' : 'params';
}
