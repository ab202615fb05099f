import { asObject, type JsonObject, textOf } from '../engine/collection/json-access.js';
import { OPEN_SETTINGS, SECRET_NAME } from '../engine/collection/secret-names.js';

const MASK = '********';
const ONLY_VARIABLES = /^(?:\s|\{\{[^{}]*\}\}|Bearer|Basic|Token)*$/i;
const TOKENS = /\b(Bearer|Basic|Token)\s+[\w.~+/=-]{4,}|\beyJ[\w-]+\.[\w-]+\.[\w-]*/g;

/**
 * A request of a collection with secrets masked: by their name, by their form, or because they are known. A value that
 * consists only of `{{variables}}` is kept. Bytes are removed.
 *
 * @param hide masks known secrets
 */
export function maskRequest(request: unknown, hide: (text: string) => string): unknown {
  return masked(request, hide, false);
}

function masked(value: unknown, hide: (text: string) => string, isAuth: boolean): unknown {
  if (typeof value === 'string') return maskText(value, hide);
  if (Array.isArray(value)) return value.map((one) => masked(one, hide, isAuth));
  const object = asObject(value);
  if (object === undefined) return value;
  const key = textOf(object.key);
  const hidden = key !== undefined && (isAuth ? !OPEN_SETTINGS.test(key) : SECRET_NAME.test(key));
  return Object.fromEntries(
    Object.entries(object).flatMap(([name, own]) => {
      if (name === 'base64') return [];
      const secret =
        (hidden && name === 'value') || (isAuth && typeof own === 'string' && isHiddenSetting(object, name));
      const text = textOf(own);
      if (secret && text !== undefined) return [[name, ONLY_VARIABLES.test(text) ? text : MASK]];
      return [[name, masked(own, hide, isAuth || name === 'auth')]];
    }),
  );
}

/** v2.0 has settings as members. */
function isHiddenSetting(object: JsonObject, name: string): boolean {
  return object.key === undefined && name !== 'type' && !OPEN_SETTINGS.test(name);
}

/** Masks a URL, a body, or any other text. */
export function maskText(text: string, hide: (text: string) => string): string {
  return hide(text)
    .replace(/^([a-z][a-z0-9+.-]*:\/\/[^/?#:@]*):[^/?#@]*@/i, `$1:${MASK}@`)
    .replace(/([?&]|^)([^=&?#\s{}"]+)=([^&#\s"]*)/g, (all, before: string, name: string, value: string) =>
      SECRET_NAME.test(name) && !ONLY_VARIABLES.test(value) ? `${before}${name}=${MASK}` : all,
    )
    .replace(/"([^"\\\n]{1,80})"(\s*:\s*)"((?:[^"\\]|\\.)*)"/gs, (all, name: string, colon: string, value: string) =>
      SECRET_NAME.test(name) && !ONLY_VARIABLES.test(value) ? `"${name}"${colon}"${MASK}"` : all,
    )
    .replace(TOKENS, (_all, scheme?: string) => (scheme === undefined ? MASK : `${scheme} ${MASK}`));
}
