import type { Engine, Host } from '../../script/prelude/engine.js';
import { append } from '../../script/prelude/primordials.js';
import { expectOf, untilOf } from './expect.js';
import { lookOf } from './look.js';
import { withKnownMembers } from './members.js';

/** Defines the global `agent`. Runs before any script, so what it captures is as the language made it. */
export function install(host: Host, engine: Engine): void {
  const { create, defineProperty, freeze, values } = Object;
  const { apply } = Reflect;
  // Without a prototype: a script may put `get` or `writable` on Object.prototype.
  const property = (value: unknown, enumerable: boolean): PropertyDescriptor =>
    ({ __proto__: null, value, enumerable, configurable: true, writable: true }) as PropertyDescriptor;
  const set = (target: object, key: PropertyKey, value: unknown, enumerable = true): void => {
    defineProperty(target, key, property(value, enumerable));
  };

  const frozen = (name: string, calls: object): object => {
    const methods = values(calls);
    for (let at = 0; at < methods.length; at += 1) freeze(methods[at]);
    return withKnownMembers(name, freeze(calls));
  };
  const clockOn = (host: Host): object =>
    frozen('agent.clock', {
      install: (options: unknown) => host('clock', 'install', options),
      setFixedTime: (time: unknown) => host('clock', 'setFixedTime', time),
      setSystemTime: (time: unknown) => host('clock', 'setSystemTime', time),
      fastForward: (ticks: unknown) => host('clock', 'fastForward', ticks),
      runFor: (ticks: unknown) => host('clock', 'runFor', ticks),
      pauseAt: (time: unknown) => host('clock', 'pauseAt', time),
      resume: (given: unknown) => host('clock', 'resume', given),
    });

  /** The calls on one browser. */
  const callsOn = (host: Host, isAgent: (target: unknown) => boolean) => ({
    go: (url: unknown, more: unknown) => host('go', url, more),
    look: lookOf(host, set),
    act: (locator: unknown, action: unknown, value: unknown, options: unknown, more: unknown) =>
      host('act', locator, action, value, options, more),
    wait: (condition: unknown, options: unknown) => host('wait', condition, options),
    text: (locator: unknown, more: unknown) => host('text', locator, more),
    read: (locator: unknown, more: unknown) => host('read', locator, more),
    value: (locator: unknown, more: unknown) => host('value', locator, more),
    screenshot: (title: unknown, more: unknown) => host('screenshot', title, more),
    page: (js: unknown, more: unknown) => host('page', js, more),
    back: (given: unknown) => host('back', given),
    tabs: (given: unknown) => host('tabs', given),
    tab: (index: unknown) => host('tab', index),
    dialogs: (given: unknown) => host('dialogs', given),
    requests: (filter: unknown) => host('requests', filter),
    // Only a null that was given ends a mock.
    mock: (url: unknown, answer: unknown) => host('mock', url, answer === undefined ? {} : answer),
    clock: clockOn(host),
    saveState: (name: unknown, options: unknown) => host('saveState', name, options),
    downloads: (given: unknown) => host('downloads', given),
    expect: expectOf(host, engine, isAgent),
    until: untilOf(host, engine),
    expectScreenshot: (name: unknown, options: unknown, more: unknown) => host('expectScreenshot', name, options, more),
    audit: (options: unknown, more: unknown) => host('audit', options, more),
    vitals: (options: unknown, more: unknown) => host('vitals', options, more),
    pdf: (options: unknown, more: unknown) => host('pdf', options, more),
    expectLook: (name: unknown, options: unknown, more: unknown) => host('expectLook', name, options, more),
  });

  // A name stands for the same object until its browser is another one.
  const others: { [name: string]: object } = create(null);
  const sessionOf = (name: unknown, options: unknown, more: unknown): object => {
    const { opened } = host('session', name, options, more) as { readonly opened: boolean };
    const known = others[name as string];
    if (known !== undefined && !opened) return known;
    const other: object = frozen(
      'agent.session(...)',
      callsOn(
        (method, ...given) => {
          // Without an iterator, which a script may replace.
          const args: unknown[] = ['in', name, method];
          for (let at = 0; at < given.length; at += 1) append(args, given[at]);
          return apply(host, undefined, args);
        },
        (target) => target === other,
      ),
    );
    others[name as string] = other;
    return other;
  };

  const agent = {
    ...callsOn(host, (target) => target === value),
    handoff: (text: unknown, options: unknown) => host('handoff', text, options),
    session: sessionOf,
  };
  // For troupe flow check --url alone, so it is in no list of calls.
  set(agent, 'recount', (locators: unknown) => host('recount', locators), false);
  const value: object = frozen('agent', agent);
  defineProperty(globalThis, 'agent', { value, enumerable: true, configurable: false, writable: false });
}
