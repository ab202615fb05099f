/** Where the page is: the address behind the `#`. */
export type Place =
  | { readonly view: 'sessions' }
  | { readonly view: 'session'; readonly id: string; readonly step: number | null }
  | { readonly view: 'wall' }
  | { readonly view: 'new' }
  | { readonly view: 'api' };

class Route {
  place = $state.raw<Place>(parse(location.hash));

  constructor() {
    addEventListener('hashchange', () => {
      this.place = parse(location.hash);
    });
  }
}

function parse(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [view, id] = path.split('/');
  if (view === 'sessions' && id) {
    const step = new URLSearchParams(query).get('step');
    return { view: 'session', id, step: step === null ? null : Number(step) };
  }
  return view === 'wall' || view === 'new' || view === 'api' ? { view } : { view: 'sessions' };
}

export const route = new Route();
