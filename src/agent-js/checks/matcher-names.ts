/** The matchers of `agent.expect`, in the order in which errors list them. */
export const MATCHER_NAMES = [
  'toHaveText',
  'toContainText',
  'toBeVisible',
  'toBeHidden',
  'toBeEnabled',
  'toBeDisabled',
  'toBeChecked',
  'toHaveValue',
  'toHaveCount',
  'toHaveAttribute',
  'toHaveURL',
  'toHaveTitle',
] as const;

export type Matcher = (typeof MATCHER_NAMES)[number];
