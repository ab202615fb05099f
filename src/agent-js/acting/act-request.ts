import type { ActionName } from '../../protocol/look.js';
import type { Bounds } from '../browser/bounds.js';
import type { Downloads } from '../files/downloads.js';
import type { Point } from './pointer.js';

/** Where a drag goes: to an element, or a point of it; so far; or along points from the corner of what is dragged. */
export type DragWay =
  | { readonly to: string; readonly at: Point | null }
  | { readonly by: readonly [dx: number, dy: number] }
  | { readonly path: readonly (readonly [x: number, y: number])[] };

export interface ActRequest {
  readonly locator: string;
  readonly action: ActionName;
  readonly value: string | readonly string[] | null;
  readonly drag: DragWay | null;
  readonly wheel: readonly [dx: number, dy: number] | null;
  /** Where the pointer goes, in CSS pixels from the corner of the element; null: to its middle, or where it is open. */
  readonly at: Point | null;
  /** How long the element may take to be ready, in milliseconds; undefined: as long as the session's acts do. */
  readonly timeoutMs: number | undefined;
  /** Value and options as the script gave them, for the transcript. */
  readonly given: readonly unknown[];
}

export interface ActOptions {
  readonly uploadsDir: string;
  /** Where scripts write files; null: they write none. */
  readonly flowsDir: string | null;
  readonly downloads: Pick<Downloads, 'begun'>;
  /** For the element to be ready. */
  readonly bounds: Bounds;
  /** For what the action leads to. */
  readonly after: Bounds;
  /** Called as soon as it is known whether what is typed is a password. */
  onField(field: { readonly password: boolean }): void;
}
