/** Names of headers, parameters, fields, variables and settings whose values are nobody else's business. */
export const SECRET_NAME =
  /pass(?:word|wd|phrase|code)?$|^pwd$|secret|token|(?:api|access|private|subscription)[-_]?key|authori[sz]ation|credential|cookie|session|signature|^(?:sig|otp|pin|auth|jwt)$/i;

/** What an auth says that is no secret. */
export const OPEN_SETTINGS =
  /^(?:username|in|grant_type|authorizationUrl|authUrl|url|accessTokenUrl|client_id|clientId|scope|client_authentication|algorithm|realm|tokenName)$/;

/** What a name says that speaks of a secret, and does not name one: `tokenUrl`, `tokenType`. */
const ABOUT_SECRETS = /(?:ur[il]|endpoint|host|path|name|type|scheme|prefix|expir\w*|ttl|length|_at)$/i;

/** Whether a variable of this name holds a secret. */
export function isSecretVariable(name: string): boolean {
  return SECRET_NAME.test(name) && !ABOUT_SECRETS.test(name);
}

/** Whether a header of this name carries credentials, whatever its value is. */
export function isCredentialHeader(name: string): boolean {
  return (
    SECRET_NAME.test(name) ||
    /(?:^|[-_])auth(?:$|[-_])/i.test(name) ||
    (/key$/i.test(name) && !/^idempotency-?key$/i.test(name))
  );
}
