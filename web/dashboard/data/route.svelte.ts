import type { SessionStatus } from '../../../src/protocol/session.js';
import { DEFAULT_DAYS, RANGES } from './flow-stats.js';

const STATES: readonly SessionStatus[] = ['queued', 'running', 'completed', 'failed', 'stopped'];

/** The current view: the URL after the `#`. */
export type Place =
  | { readonly view: 'runs' }
  | { readonly view: 'run'; readonly id: string }
  | { readonly view: 'runFlow'; readonly id: string; readonly path: string }
  | { readonly view: 'missing'; readonly path: string }
  | { readonly view: 'sessions'; readonly search: string; readonly state: SessionStatus | 'all' }
  | { readonly view: 'session'; readonly id: string; readonly step: number | null; readonly video: boolean }
  | { readonly view: 'wall' }
  | { readonly view: 'flows'; readonly path: string | null }
  | { readonly view: 'stats'; readonly flow: string | null; readonly days: number }
  | { readonly view: 'new'; readonly flow: string | null }
  | { readonly view: 'nodes' }
  | { readonly view: 'api'; readonly operation: string | null };

class Route {
  place = $state.raw<Place>(placeOf(location.hash));

  constructor() {
    addEventListener('hashchange', () => {
      this.place = placeOf(location.hash);
    });
  }
}

/**
 * The view of a URL: `#/`, `#/runs/{id}`, `#/runs/{id}/flows/{path}`, `#/sessions`, `#/sessions?search=words`, `#/sessions/{id}`, the same followed
 * by `/step-3`, `#step-3`, `?step=3` or `/video`, `#/wall`, `#/flows`, `#/flows/{path}`, `#/stats?days=7`, `#/stats/{flow}?days=7`, `#/new`,
 * `#/new?flow={path}`, `#/nodes`, `#/api`, `#/api/{operation}`. `#/?search=words` is the list of sessions, as it was once.
 */
export function placeOf(hash: string): Place {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?');
  const query = new URLSearchParams(search);
  const [view, id, ...rest] = path.split(/[/#]/);
  switch (view) {
    case 'sessions':
      if (!id) return { view, search: query.get('search') ?? '', state: stateOf(query.get('state')) };
      return {
        view: 'session',
        id,
        step: stepOf(rest[0] ?? '') ?? stepOf(`step-${query.get('step')}`),
        video: rest[0] === 'video',
      };
    case 'runs':
      if (!id) return { view };
      if (rest[0] === 'flows') return { view: 'runFlow', id, path: decodeURIComponent(rest.slice(1).join('/')) };
      return { view: 'run', id };
    case 'flows':
      return { view, path: id ? decodeURIComponent(path.slice('flows/'.length)) : null };
    case 'stats': {
      const flow = id ? decodeURIComponent(path.slice('stats/'.length)) : null;
      const days = RANGES.find((range) => String(range.days) === query.get('days'))?.days ?? DEFAULT_DAYS;
      return { view, flow, days };
    }
    case 'new':
      return { view, flow: query.get('flow') };
    case 'wall':
    case 'nodes':
      return { view };
    case 'api':
      return { view, operation: id || null };
  }
  const words = query.get('search');
  if (path !== '') return { view: 'missing', path };
  return words === null ? { view: 'runs' } : { view: 'sessions', search: words, state: 'all' };
}

function stateOf(text: string | null): SessionStatus | 'all' {
  return STATES.find((state) => state === text) ?? 'all';
}

function stepOf(text: string): number | null {
  const index = /^step-(\d{1,9})$/.exec(text)?.[1];
  return index === undefined ? null : Number(index);
}

/** The URL of a run, by the id of its batch. */
export function runHref(id: string): string {
  return `#/runs/${id}`;
}

/** The URL of the list of sessions, with a search and a state. */
export function sessionsHref(search: string, state: SessionStatus | 'all' = 'all'): string {
  const given = { ...(search === '' ? {} : { search }), ...(state === 'all' ? {} : { state }) };
  const query = new URLSearchParams(given).toString();
  return `#/sessions${query === '' ? '' : `?${query}`}`;
}

/** The URL of a session, or of one of its steps. */
export function sessionHref(id: string, step: number | null = null): string {
  return step === null ? `#/sessions/${id}` : `#/sessions/${id}/step-${step}`;
}

/** The URL of the video of a session. */
export function videoHref(id: string): string {
  return `#/sessions/${id}/video`;
}

/** The URL of a flow, by its path with extension; of the flow that a run used, if `run` is given. */
export function flowHref(path: string, run: string | null = null): string {
  const of = path.split('/').map(encodeURIComponent).join('/');
  return run === null ? `#/flows/${of}` : `#/runs/${run}/flows/${of}`;
}

/** The URL of the statistics of a flow, by its path without extension, or of all flows. */
export function statsHref(flow: string | null, days: number = DEFAULT_DAYS): string {
  const of = flow === null ? '' : `/${flow.split('/').map(encodeURIComponent).join('/')}`;
  return `#/stats${of}${days === DEFAULT_DAYS ? '' : `?days=${days}`}`;
}

/** The URL of an operation of the API, by its id, or of all. */
export function apiHref(operation: string | null): string {
  return operation === null ? '#/api' : `#/api/${encodeURIComponent(operation)}`;
}

export const route = new Route();
