import { WORLD } from '../tabs/page-calls.js';
import { type Discoveries, share } from './controls/discoveries.js';
import { Recorder } from './recording/recorder.js';
import { WindowListeners } from './window-listeners.js';

/** The global of the isolated world under which a document's recorder stands. */
const RECORDER = 'troupeRecorder';

const HEARD = [
  ...['pointerdown', 'mousedown', 'pointermove', 'mousemove', 'pointerup', 'mouseup', 'click', 'dblclick', 'auxclick'],
  ...['contextmenu', 'mouseover', 'wheel', 'dragstart', 'drop', 'keydown', 'keyup', 'beforeinput', 'input', 'change'],
];
const ENDS = ['pointerdown', 'mousedown', 'keydown', 'wheel'];

/** Runs in the isolated world of each document that is recorded, after the world's own script. */
export function install(): void {
  if (RECORDER in globalThis) return;
  const found = discoveriesHere();
  if (found !== null) share(found);
  const recorder = new Recorder();
  Object.defineProperty(globalThis, RECORDER, { value: recorder });
  const listeners = new WindowListeners();
  // The outermost document that can be reached names things, as looks do.
  listeners.add(HEARD, (event) => outermost().hear(event), { capture: true, passive: false });
  listeners.add(ENDS, (event) => outermost().hearEnd(event), { passive: true });
}

function outermost(): Recorder {
  let recorder = recorderOf(window);
  for (let view: Window = window; view.parent !== view; view = view.parent) {
    const outer = recorderOf(view.parent);
    if (outer === null) break;
    recorder = outer;
  }
  return recorder as Recorder;
}

function recorderOf(view: Window): Recorder | null {
  try {
    const recorder: unknown = Reflect.get(view, RECORDER);
    return typeof recorder === 'object' ? (recorder as Recorder | null) : null;
  } catch {
    return null;
  }
}

function discoveriesHere(): Discoveries | null {
  const world: unknown = Reflect.get(globalThis, WORLD);
  if (typeof world !== 'object' || world === null || !('discoveries' in world)) return null;
  return world.discoveries as Discoveries;
}
