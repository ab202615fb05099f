import type { EgressSetting } from '#troupe/net-policy/egress.js';

/** The setting of a service without egress rules of its own. */
export const NO_RULES: EgressSetting = {
  ownPort: 1,
  ownNames: [],
  hostAddress: null,
  forward: [],
  egress: {},
  loopback: 'forwarded',
};
