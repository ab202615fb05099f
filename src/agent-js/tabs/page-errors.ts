import type { SessionEvent } from '../../protocol/events.js';
import type { CdpEvent, CdpRemoteObject } from '../browser/cdp.js';

/** Errors recorded of a session; the next is replaced by a note, further ones are dropped. */
const MAX_ERRORS = 200;
/** A longer text is cut. */
const MAX_TEXT = 2_000;

/** Records what the pages' scripts throw and write with console.error. */
export class PageErrors {
  readonly #emit: (event: SessionEvent) => void;
  #count = 0;

  constructor(emit: (event: SessionEvent) => void) {
    this.#emit = emit;
  }

  observe(event: CdpEvent, url: string): void {
    switch (event.method) {
      case 'Runtime.exceptionThrown': {
        const { text, exception } = event.params.exceptionDetails;
        this.#record(
          exception?.description ?? [text, valueText(exception)].filter((part) => part !== '').join(' '),
          url,
        );
        return;
      }
      case 'Runtime.consoleAPICalled':
        if (event.params.type === 'error') this.#record(event.params.args.map(valueText).join(' '), url);
        return;
      default:
    }
  }

  #record(text: string, url: string): void {
    this.#count++;
    if (this.#count > MAX_ERRORS + 1) return;
    const kept = this.#count > MAX_ERRORS ? 'Further page errors are not recorded' : text.slice(0, MAX_TEXT);
    this.#emit({ type: 'PageErrorLogged', data: { text: kept, url: url.slice(0, MAX_TEXT) } });
  }
}

function valueText(value: CdpRemoteObject | undefined): string {
  if (value === undefined) return '';
  if (typeof value.value === 'string') return value.value;
  return (
    value.unserializableValue ?? value.description ?? (value.value === undefined ? '' : JSON.stringify(value.value))
  );
}
