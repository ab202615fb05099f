import type { Supervision } from '../../actors/supervision.js';
import type { LoginStates } from '../../auth/login-states.js';
import type { RequestVault } from '../../auth/request-vault.js';
import type { SetupValues } from '../../auth/setup-values.js';
import type { Clock } from '../../base/clock.js';
import type { ClusterNode } from '../../cluster/cluster-node.js';
import type { Config } from '../../config.js';
import type { Driver } from '../../containers/driver.js';
import type { Log } from '../../telemetry/log.js';
import type { Outbox } from '../../webhooks/outbox.js';
import type { EventHub } from '../events/index.js';
import type { VideoEncoders } from './frame-video.js';

/** Dependencies that all sessions share. */
export interface SessionDependencies {
  readonly config: Config;
  readonly driver: Driver;
  readonly supervision: Supervision;
  readonly hub: EventHub;
  readonly vault: RequestVault;
  readonly states: LoginStates;
  readonly setupValues: SetupValues;
  readonly webhooks: Outbox;
  /** Makes videos of sessions whose driver cannot record them. */
  readonly videos: VideoEncoders;
  /** This node, if several share the database. */
  readonly cluster?: ClusterNode | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** See `EgressSetting`. */
  readonly closedPorts?: SharedArrayBuffer | undefined;
}
