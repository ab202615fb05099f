/** When a job is submitted, a flow that does not exist is a fault of the request, not of a script. */
export const SUBMIT_ERROR_STATUS = { FLOW_NOT_FOUND: 400 } as const;

/** What a submission can be refused for, beside its form. */
export const SUBMIT_ERRORS = [
  'FLOW_NOT_FOUND',
  'AUTONOMY_OFF',
  'MODEL_NOT_ALLOWED',
  'MISSING_API_KEY',
  'CAPACITY',
] as const;
