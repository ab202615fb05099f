import type { ActionName } from '../../protocol/look.js';
import type { Bounds } from '../browser/bounds.js';

export interface ActRequest {
  readonly locator: string;
  readonly action: ActionName;
  readonly value: string | readonly string[] | null;
}

export interface ActOptions {
  readonly uploadsDir: string;
  /** For the element to be ready. */
  readonly bounds: Bounds;
  /** For what the action leads to. */
  readonly after: Bounds;
  /** Told as soon as it is known whether what is typed is a password. */
  onField(field: { readonly password: boolean }): void;
}
