/** When a job is submitted, a flow that does not exist is a fault of the request, not of a script. */
export const SUBMIT_ERROR_STATUS = { FLOW_NOT_FOUND: 400 } as const;
