import type { PageInput } from '../../../src/protocol/control.js';

/** Where captured input goes. */
export interface InputTarget {
  /** The page's own size in its pixels; null before the first picture. */
  size(): { readonly width: number; readonly height: number } | null;
  /** At most 64 at once. */
  send(inputs: PageInput[]): void;
  /** The keys for copying were pressed. */
  copy(): void;
}

const BUTTONS = ['left', 'middle', 'right', 'back', 'forward'] as const;
/** The longest text in one input. */
const MAX_TEXT = 32_768;
/** The size of a scroll step by pixels, lines and pages, in pixels. */
const WHEEL_PX = [1, 16, 400] as const;
/** Keys of input methods, whose result arrives as text. */
const NO_KEYS = new Set(['Dead', 'Process', 'Unidentified', 'Compose']);

/**
 * Sends the mouse, wheel, keyboard, touch and clipboard events of an element that displays a page, until the returned
 * function is called. Shift+Escape leaves the element. Moves are sent once per frame.
 */
export function captureInput(element: HTMLElement, { size, send, copy }: InputTarget): () => void {
  const stopped = new AbortController();
  const listen = <K extends keyof HTMLElementEventMap>(
    type: K,
    listener: (event: HTMLElementEventMap[K]) => void,
    on: EventTarget = element,
  ) =>
    on.addEventListener(type, (event) => listener(event as HTMLElementEventMap[K]), {
      signal: stopped.signal,
      passive: false,
    });
  let moved: PageInput | null = null;
  let pressed = false;

  const flush = () => {
    const input = moved;
    moved = null;
    if (input !== null && !stopped.signal.aborted) send([input]);
  };
  /** In pixels of the page. */
  const placeOf = ({ clientX, clientY }: { readonly clientX: number; readonly clientY: number }) => {
    const page = size();
    const box = element.getBoundingClientRect();
    if (page === null || box.width === 0) return null;
    return {
      x: bounded(((clientX - box.left) * page.width) / box.width, -100, 20_000),
      y: bounded(((clientY - box.top) * page.height) / box.height, -100, 20_000),
    };
  };
  const mouse = (event: MouseEvent, action: 'move' | 'down' | 'up') => {
    const place = placeOf(event);
    if (place === null) return;
    event.preventDefault();
    const button = action === 'move' ? 'none' : (BUTTONS[event.button] ?? 'none');
    const { buttons } = event;
    const clicks = action === 'move' ? 0 : Math.min(event.detail, 3);
    const input = { kind: 'mouse', action, ...place, button, buttons, clicks, modifiers: modifiersOf(event) } as const;
    if (action !== 'move') {
      flush();
      send([input]);
    } else {
      if (moved === null) requestAnimationFrame(flush);
      moved = input;
    }
  };
  const touch = (event: TouchEvent, action: 'start' | 'move' | 'end' | 'cancel') => {
    event.preventDefault();
    const points = [...event.targetTouches].flatMap((finger, index) => {
      const place = placeOf(finger);
      return place === null ? [] : [{ ...place, id: index }];
    });
    if (points.length > 10 || size() === null) return;
    send([{ kind: 'touch', action, points, modifiers: modifiersOf(event) }]);
  };
  const key = (event: KeyboardEvent, action: 'down' | 'up') => {
    if (event.key === 'Escape' && event.shiftKey) return element.blur();
    const withControl = event.ctrlKey || event.metaKey;
    // The browser's default is kept, so that it fires the paste event.
    if (withControl && event.key.toLowerCase() === 'v') return;
    event.preventDefault();
    if (withControl && action === 'down' && event.key.toLowerCase() === 'c') copy();
    if (event.isComposing || NO_KEYS.has(event.key)) return;
    const { code, repeat } = event;
    send([{ kind: 'key', action, key: event.key, code, repeat, modifiers: modifiersOf(event) }]);
  };

  listen('mousedown', (event) => {
    pressed = true;
    element.focus();
    mouse(event, 'down');
  });
  listen('mousemove', (event) => (pressed ? undefined : mouse(event, 'move')));
  // A drag may leave the picture.
  listen('mousemove', (event) => (pressed ? mouse(event, 'move') : undefined), window);
  listen(
    'mouseup',
    (event) => {
      if (pressed) mouse(event, 'up');
      pressed = false;
    },
    window,
  );
  listen('contextmenu', (event) => event.preventDefault());
  listen('wheel', (event) => {
    const place = placeOf(event);
    if (place === null) return;
    event.preventDefault();
    const scale = WHEEL_PX[event.deltaMode] ?? 1;
    const [dx, dy] = [event.deltaX, event.deltaY].map((delta) => bounded(delta * scale, -10_000, 10_000));
    send([{ kind: 'wheel', ...place, dx: dx ?? 0, dy: dy ?? 0, modifiers: modifiersOf(event) }]);
  });
  listen('touchstart', (event) => touch(event, 'start'));
  listen('touchmove', (event) => touch(event, 'move'));
  listen('touchend', (event) => touch(event, 'end'));
  listen('touchcancel', (event) => touch(event, 'cancel'));
  listen('keydown', (event) => key(event, 'down'));
  listen('keyup', (event) => key(event, 'up'));
  listen('paste', (event) => {
    event.preventDefault();
    const text = event.clipboardData?.getData('text/plain').slice(0, MAX_TEXT) ?? '';
    if (text !== '') send([{ kind: 'text', text }]);
  });
  return () => stopped.abort();
}

interface Modified {
  readonly altKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
}

function modifiersOf({ altKey, ctrlKey, metaKey, shiftKey }: Modified): number {
  return Number(altKey) + 2 * Number(ctrlKey) + 4 * Number(metaKey) + 8 * Number(shiftKey);
}

function bounded(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value));
}
