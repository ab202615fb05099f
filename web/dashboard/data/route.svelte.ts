/** Where the page is: the address behind the `#`. */
export type Place =
  | { readonly view: 'sessions'; readonly search: string }
  | { readonly view: 'session'; readonly id: string; readonly step: number | null }
  | { readonly view: 'wall' }
  | { readonly view: 'flows'; readonly path: string | null }
  | { readonly view: 'new'; readonly flow: string | null }
  | { readonly view: 'api' };

class Route {
  place = $state.raw<Place>(placeOf(location.hash));

  constructor() {
    addEventListener('hashchange', () => {
      this.place = placeOf(location.hash);
    });
  }
}

/**
 * What an address stands for: `#/`, `#/?search=words`, `#/sessions/{id}`, the same with `/step-3`, `#step-3` or
 * `?step=3` behind it, `#/wall`, `#/flows`, `#/flows/{path}`, `#/new`, `#/new?flow={path}`,
 * `#/api`. Anything else is the list.
 */
export function placeOf(hash: string): Place {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?');
  const query = new URLSearchParams(search);
  const [view, id, ...rest] = path.split(/[/#]/);
  switch (view) {
    case 'sessions':
      if (!id) break;
      return { view: 'session', id, step: stepOf(rest[0] ?? '') ?? stepOf(`step-${query.get('step')}`) };
    case 'flows':
      return { view, path: id ? decodeURIComponent(path.slice('flows/'.length)) : null };
    case 'new':
      return { view, flow: query.get('flow') };
    case 'wall':
    case 'api':
      return { view };
  }
  return { view: 'sessions', search: query.get('search') ?? '' };
}

function stepOf(text: string): number | null {
  const index = /^step-(\d{1,9})$/.exec(text)?.[1];
  return index === undefined ? null : Number(index);
}

/** The address of a session, or of one of its steps. */
export function sessionHref(id: string, step: number | null = null): string {
  return step === null ? `#/sessions/${id}` : `#/sessions/${id}/step-${step}`;
}

/** The address of a flow, by its path with extension. */
export function flowHref(path: string): string {
  return `#/flows/${path.split('/').map(encodeURIComponent).join('/')}`;
}

export const route = new Route();
