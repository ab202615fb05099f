/** Names of headers, parameters, fields, variables and settings with secret values. */
export const SECRET_NAME =
  /pass(?:word|wd|phrase|code)?$|^pwd$|secret|token|(?:api|access|private|subscription)[-_]?key|authori[sz]ation|credential|cookie|session|signature|^(?:sig|otp|pin|auth|jwt)$/i;

/** Settings of an auth that are not secret. */
export const OPEN_SETTINGS =
  /^(?:username|in|grant_type|authorizationUrl|authUrl|url|accessTokenUrl|client_id|clientId|scope|client_authentication|algorithm|realm|tokenName)$/;

/** Names that are related to a secret, but do not contain one: `tokenUrl`, `tokenType`. */
const ABOUT_SECRETS = /(?:ur[il]|endpoint|host|path|name|type|scheme|prefix|expir\w*|ttl|length|_at)$/i;

/** Whether a variable of this name contains a secret. */
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
