import ntlm from 'httpntlm/ntlm.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import type { UserAuth } from '../request.js';

function identity({ username, password, domain = '', workstation = '' }: UserAuth) {
  return { username, password, domain: domain.toUpperCase(), workstation: workstation.toUpperCase() };
}

/** The Authorization header that begins an NTLM login. */
export function ntlmBegin(user: UserAuth): string {
  return ntlm.createType1Message(identity(user));
}

/**
 * The Authorization header that answers the server's challenge, on the same connection.
 * @throws REQUEST_FAILED if the challenge cannot be read
 */
export function ntlmAnswer(user: UserAuth, challenge: string): string {
  let why = 'the server sent no challenge';
  const parsed = ntlm.parseType2Message(challenge, (error) => {
    why = error.message;
  });
  if (parsed === undefined || parsed === null) {
    throw new TroupeError('REQUEST_FAILED', `NTLM: ${why}; check that the server supports NTLM`, { cause: 'NTLM' });
  }
  return ntlm.createType3Message(parsed, identity(user));
}
