import type { DoorKind, DoorPlace } from './door.js';
import type { GateWish } from './gate-rules.js';

/** What the gate's thread is told. `Open` and `Close` are answered with their number once they are done. */
export type GateMessage =
  | { readonly type: 'Permit'; readonly leaseId: string; readonly wish: GateWish }
  | {
      readonly type: 'Open';
      readonly call: number;
      readonly leaseId: string;
      readonly place: DoorPlace;
      readonly kind: DoorKind;
    }
  | { readonly type: 'Close'; readonly call: number; readonly leaseId: string };

export interface GateAnswer {
  readonly call: number;
  /** Why it could not be done. */
  readonly fault?: string;
}
