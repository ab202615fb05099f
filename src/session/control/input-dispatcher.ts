import { keyEvent } from '../../agent-js/acting/keyboard.js';
import type { BrowserPort } from '../../agent-js/browser/browser-port.js';
import type { CdpMethod, CdpParams } from '../../agent-js/browser/cdp.js';
import { assertNever } from '../../base/assert-never.js';
import { stretched } from '../../base/deadline.js';
import type { PageInput } from '../../protocol/control.js';
import { TroupeError } from '../../protocol/errors.js';

/** A page that has not processed its input by then hangs, or has a dialog open. */
const INPUT_MS = stretched(5_000);
/** The most characters of a selection that are returned. */
const MAX_SELECTION = 65_536;
/**
 * Returns the selection of the document, or of the focused field. Also searches shadow roots and same-origin frames.
 */
const SELECTION = `(() => {
  let root = document;
  let focus = root.activeElement;
  for (let depth = 0; focus && depth < 20; depth += 1) {
    const inside = focus.shadowRoot ?? focus.contentDocument;
    if (!inside) break;
    root = inside;
    focus = inside.activeElement;
  }
  const { value, selectionStart: from, selectionEnd: to, type } = focus ?? {};
  if (type === 'password') return '';
  const inField = typeof value === 'string' && typeof from === 'number';
  const text = inField && to > from ? value.slice(from, to) : String((root.getSelection ? root : document).getSelection() ?? '');
  return text.slice(0, ${MAX_SELECTION});
})()`;

/** Sends a person's input to the active page. Inputs sent in one turn of the event loop keep their order. */
export class InputDispatcher {
  readonly #browser: BrowserPort;
  readonly #activePage: () => string | undefined;
  /** Input that the page has not processed yet. */
  readonly #sent = new Set<Promise<unknown>>();

  /** @param activePage returns the CDP session of the tab on the screen */
  constructor(browser: BrowserPort, activePage: () => string | undefined) {
    this.#browser = browser;
    this.#activePage = activePage;
  }

  /**
   * Resolves when the page has processed all of it.
   * @throws WAIT_TIMEOUT if the page hangs or has a dialog open; ACTION_FAILED if there is no page
   */
  async send(inputs: readonly PageInput[]): Promise<null> {
    const sent = Promise.all(inputs.map((input) => this.#sendOne(input)));
    this.#sent.add(sent);
    try {
      await sent;
    } finally {
      this.#sent.delete(sent);
    }
    return null;
  }

  /** The selected text, once the page has processed the input sent before. */
  async selection(): Promise<string> {
    // Input takes longer through the browser than scripts do.
    await Promise.allSettled(this.#sent);
    // In a world of its own: the page may have replaced what it uses, such as how a field says that it is for a password.
    const { frameTree } = await this.#command('Page.getFrameTree', {});
    const world = { frameId: frameTree.frame.id, worldName: 'troupe-selection' };
    const { executionContextId: contextId } = await this.#command('Page.createIsolatedWorld', world);
    const { result } = await this.#command('Runtime.evaluate', {
      expression: SELECTION,
      contextId,
      returnByValue: true,
    });
    return typeof result.value === 'string' ? result.value : '';
  }

  #sendOne(input: PageInput): Promise<unknown> {
    switch (input.kind) {
      case 'mouse': {
        const { x, y, button, buttons, clicks, modifiers } = input;
        const type = MOUSE[input.action];
        return this.#command('Input.dispatchMouseEvent', {
          type,
          x,
          y,
          button,
          buttons,
          clickCount: clicks,
          modifiers,
        });
      }
      case 'wheel': {
        const { x, y, dx, dy, modifiers } = input;
        return this.#command('Input.dispatchMouseEvent', {
          type: 'mouseWheel',
          x,
          y,
          deltaX: dx,
          deltaY: dy,
          modifiers,
        });
      }
      case 'key':
        return this.#command('Input.dispatchKeyEvent', keyEvent(input));
      case 'touch': {
        const { action, points, modifiers } = input;
        return this.#command('Input.dispatchTouchEvent', { type: TOUCH[action], touchPoints: points, modifiers });
      }
      case 'text':
        return this.#command('Input.insertText', { text: input.text });
      default:
        return assertNever(input);
    }
  }

  #command<M extends CdpMethod>(method: M, params: CdpParams<M>) {
    const session = this.#activePage();
    if (session === undefined) throw new TroupeError('ACTION_FAILED', 'The browser has no open page; open one first');
    return this.#browser.send(method, params, { session, timeoutMs: INPUT_MS });
  }
}

const MOUSE = { move: 'mouseMoved', down: 'mousePressed', up: 'mouseReleased' } as const;
const TOUCH = { start: 'touchStart', move: 'touchMove', end: 'touchEnd', cancel: 'touchCancel' } as const;
