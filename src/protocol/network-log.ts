/** In network logs, the error of a request that was still waiting when the session ended. */
export const NO_ANSWER = 'no answer when the session ended';

/** In lines of network logs, the member of a response that has the beginning of an error's body, for reports alone. */
export const ERROR_BODY = '_errorBody';
