import { TroupeError } from '../protocol/errors.js';
import type { CdpParams } from './cdp.js';
import type { Tab } from './tab.js';

type KeyEvent = CdpParams<'Input.dispatchKeyEvent'>;

interface Key {
  readonly key: string;
  readonly code: string;
  readonly windowsVirtualKeyCode: number;
  readonly text?: string;
}

/** The bits of the protocol's `modifiers`. */
const MODIFIERS: { readonly [name: string]: { readonly bit: number; readonly key: Key } } = {
  Alt: { bit: 1, key: { key: 'Alt', code: 'AltLeft', windowsVirtualKeyCode: 18 } },
  Control: { bit: 2, key: { key: 'Control', code: 'ControlLeft', windowsVirtualKeyCode: 17 } },
  Meta: { bit: 4, key: { key: 'Meta', code: 'MetaLeft', windowsVirtualKeyCode: 91 } },
  Shift: { bit: 8, key: { key: 'Shift', code: 'ShiftLeft', windowsVirtualKeyCode: 16 } },
};
const SHIFT = 8;
const ALIASES: { readonly [name: string]: string } = {
  ControlOrMeta: 'Control',
  Ctrl: 'Control',
  Cmd: 'Meta',
  Command: 'Meta',
  Option: 'Alt',
  Esc: 'Escape',
  Del: 'Delete',
  Return: 'Enter',
  Up: 'ArrowUp',
  Down: 'ArrowDown',
  Left: 'ArrowLeft',
  Right: 'ArrowRight',
  ' ': 'Space',
};

/** Names of https://www.w3.org/TR/uievents-key/ with their Windows key codes. */
const NAMED: { readonly [name: string]: number } = {
  Backspace: 8,
  Tab: 9,
  Enter: 13,
  Escape: 27,
  PageUp: 33,
  PageDown: 34,
  End: 35,
  Home: 36,
  ArrowLeft: 37,
  ArrowUp: 38,
  ArrowRight: 39,
  ArrowDown: 40,
  Insert: 45,
  Delete: 46,
};

/** Presses a key or a chord: `Enter`, `a`, `Control+A`, `Shift+Tab`. */
export async function pressChord(tab: Tab, chord: string, timeoutMs: number): Promise<void> {
  const { modifiers, key } = parseChord(chord);
  let held = 0;
  const sent: Promise<unknown>[] = [];
  const dispatch = (event: KeyEvent) => sent.push(tab.send('Input.dispatchKeyEvent', event, timeoutMs));
  for (const modifier of modifiers) {
    held |= modifier.bit;
    dispatch({ type: 'rawKeyDown', ...modifier.key, modifiers: held });
  }
  const shifted = (held & SHIFT) !== 0 && key.text !== undefined ? { ...key, ...upperCase(key) } : key;
  // With Control, Alt or Meta a key types nothing.
  const typed = (held & ~SHIFT) === 0 ? shifted.text : undefined;
  const { text: _, ...plain } = shifted;
  if (typed === undefined) dispatch({ type: 'rawKeyDown', ...plain, modifiers: held });
  else dispatch({ type: 'keyDown', ...plain, text: typed, unmodifiedText: typed, modifiers: held });
  dispatch({ type: 'keyUp', ...plain, modifiers: held });
  for (const modifier of [...modifiers].reverse()) {
    held &= ~modifier.bit;
    dispatch({ type: 'keyUp', ...modifier.key, modifiers: held });
  }
  await Promise.all(sent);
}

/**
 * Types into the focused field. The text arrives at once, its last character by its key: sites that listen for keys hear
 * one, and a long text takes no longer than a short one.
 */
export async function typeText(tab: Tab, text: string, timeoutMs: number): Promise<void> {
  const last = text.at(-1) ?? '';
  const byKey = /^[\x20-\x7e]$/.test(last);
  const before = byKey ? text.slice(0, -1) : text;
  const sent: Promise<unknown>[] = [];
  if (before !== '') sent.push(tab.send('Input.insertText', { text: before }, timeoutMs));
  if (byKey) {
    const { text: _, ...key } = characterKey(last);
    const modifiers = /[A-Z]/.test(last) ? SHIFT : 0;
    const typed = { text: last, unmodifiedText: last };
    sent.push(tab.send('Input.dispatchKeyEvent', { type: 'keyDown', ...key, ...typed, modifiers }, timeoutMs));
    sent.push(tab.send('Input.dispatchKeyEvent', { type: 'keyUp', ...key, modifiers }, timeoutMs));
  }
  await Promise.all(sent);
}

function parseChord(chord: string): { modifiers: { readonly bit: number; readonly key: Key }[]; key: Key } {
  // The last + may be the key itself.
  const parts =
    chord === '+' ? ['+'] : chord.endsWith('++') ? [...chord.slice(0, -2).split('+'), '+'] : chord.split('+');
  const names = parts.map((part) => ALIASES[part] ?? part);
  const last = names.pop() ?? '';
  const modifiers = names.map((name) => {
    const modifier = MODIFIERS[name];
    if (modifier === undefined) throw unknownKey(chord);
    return modifier;
  });
  return { modifiers, key: keyNamed(last) ?? unknown(chord) };
}

function keyNamed(name: string): Key | undefined {
  const code = NAMED[name];
  if (code !== undefined) {
    return { key: name, code: name, windowsVirtualKeyCode: code, ...(name === 'Enter' ? { text: '\r' } : {}) };
  }
  if (name === 'Space') return { key: ' ', code: 'Space', windowsVirtualKeyCode: 32, text: ' ' };
  const modifier = MODIFIERS[name];
  if (modifier !== undefined) return modifier.key;
  const functionKey = /^F([1-9]|1\d|2[0-4])$/.exec(name);
  if (functionKey !== null) return { key: name, code: name, windowsVirtualKeyCode: 111 + Number(functionKey[1]) };
  return [...name].length === 1 ? characterKey(name) : undefined;
}

function characterKey(character: string): Key {
  const upper = character.toUpperCase();
  if (/^[A-Z]$/.test(upper)) return keyOf(character, `Key${upper}`, upper.charCodeAt(0));
  if (/^\d$/.test(character)) return keyOf(character, `Digit${character}`, character.charCodeAt(0));
  if (character === ' ') return keyOf(' ', 'Space', 32);
  return keyOf(character, '', 0);
}

function keyOf(text: string, code: string, windowsVirtualKeyCode: number): Key {
  return { key: text, code, windowsVirtualKeyCode, text };
}

function upperCase(key: Key): { key: string; text: string } {
  const text = key.text ?? '';
  return /^[a-z]$/.test(text) ? { key: text.toUpperCase(), text: text.toUpperCase() } : { key: key.key, text };
}

function unknown(chord: string): never {
  throw unknownKey(chord);
}

function unknownKey(chord: string): TroupeError {
  const message = `${JSON.stringify(chord)} is not a key: Enter, Tab, ArrowDown, a, F5, or a chord as Control+A`;
  return new TroupeError('SCRIPT_ERROR', message);
}
