/** In network logs, the error of a request that was still waiting when the session ended. */
export const NO_ANSWER = 'no answer when the session ended';
