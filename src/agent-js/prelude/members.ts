/**
 * An object of calls that throws when a script asks for a member that it does not have: the language itself only
 * says that something is not a function.
 *
 * @param name as scripts call it
 */
export function withKnownMembers<T extends object>(name: string, calls: T): T {
  const members = Object.keys(calls).join(', ');
  return new Proxy(calls, {
    get(target, key) {
      if (key in target || typeof key === 'symbol' || key === 'then' || key === 'toJSON') return get(target, key);
      throw new TypeErrorClass(`${name} has no ${key}; it has ${members}`);
    },
  });
}

// As the language made them: a script may replace them later.
const { get } = Reflect;
const TypeErrorClass = TypeError;
