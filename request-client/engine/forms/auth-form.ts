import type { AuthForm, InheritedAuth } from '../../protocol/request-window.js';
import { authPath, pathsUp, settingsOf } from '../collection/auth.js';
import type { Collection, CollectionPath } from '../collection/collection.js';
import { asObject, type JsonObject, listOf, member, textOf } from '../collection/json-access.js';
import { OAUTH_KEYS } from '../oauth/oauth-settings.js';

/** The auth of an item for its tab, with OAuth settings under the client's own keys, whichever are stored. */
export function readAuthForm(auth: unknown): AuthForm {
  const type = textOf(member(auth, 'type'));
  if (type === undefined) return { type: 'inherit', settings: {} };
  const stored = settingsOf(member(auth, type));
  if (type !== 'oauth2') return { type, settings: Object.fromEntries(stored) };
  const settings = OAUTH_KEYS.map((keys) => {
    const key = keys.find((one) => (stored.get(one) ?? '') !== '');
    return [keys[0], key === undefined ? '' : (stored.get(key) ?? '')] as const;
  });
  return { type, settings: Object.fromEntries(settings.filter(([, value]) => value !== '')) };
}

/** The inherited auth of a request or folder: the nearest one above it. */
export function inheritedAuth(
  collection: Collection,
  path: CollectionPath,
  idOf: (path: CollectionPath) => string,
): InheritedAuth | null {
  for (const place of pathsUp(path).slice(1)) {
    const type = textOf(member(collection.at(authPath(collection, place)), 'type'));
    if (type !== undefined) return { id: idOf(place), from: collection.nameAt(place), type };
  }
  return null;
}

/** The stored form of an auth. Unknown entries are kept; Postman's own names of a setting are updated too. */
export function writeAuth(old: unknown, { type, settings }: AuthForm): JsonObject | undefined {
  if (type === 'inherit') return undefined;
  const base = asObject(old) ?? {};
  if (type === 'noauth') return { ...base, type };
  const stored = base[type];
  const object = asObject(stored);
  const wanted = type === 'oauth2' ? withAliases(settings, settingsOf(stored)) : settings;
  if (object !== undefined) return { ...base, type, [type]: { ...object, ...wanted } };
  const keyOf = (entry: unknown): string => textOf(member(entry, 'key')) ?? '';
  const kept = listOf(stored).map((entry) => {
    const value = wanted[keyOf(entry)];
    return value === undefined ? entry : { ...asObject(entry), value };
  });
  const known = new Set(kept.map(keyOf));
  const fresh = Object.entries(wanted).filter(([key, value]) => !known.has(key) && value !== '');
  return { ...base, type, [type]: [...kept, ...fresh.map(([key, value]) => ({ key, value, type: 'string' }))] };
}

function withAliases(settings: AuthForm['settings'], stored: ReadonlyMap<string, string>): AuthForm['settings'] {
  const written = { ...settings };
  for (const [own, ...aliases] of OAUTH_KEYS) {
    const value = settings[own];
    if (value === undefined) continue;
    for (const alias of aliases) if (stored.has(alias)) written[alias] = value;
  }
  return written;
}
