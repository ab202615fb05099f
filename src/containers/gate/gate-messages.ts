import type { EgressWish } from '../../net-policy/egress.js';
import type { ListenerKind, ListenerPlace } from './proxy-listener.js';

/** What the gate's thread is told. `Open` and `Close` are answered with their number once they are done. */
export type GateMessage =
  | { readonly type: 'Permit'; readonly leaseId: string; readonly wish: EgressWish }
  | {
      readonly type: 'Open';
      readonly call: number;
      readonly leaseId: string;
      readonly place: ListenerPlace;
      readonly kind: ListenerKind;
    }
  | { readonly type: 'Close'; readonly call: number; readonly leaseId: string };

export interface GateAnswer {
  readonly call: number;
  /** The port that was opened, where it was one. */
  readonly port?: number;
  /** Why it could not be done. */
  readonly fault?: string;
}
