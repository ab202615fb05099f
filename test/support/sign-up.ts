import type { RequestListener } from 'node:http';
import type { Site } from './agent-fixture.js';

/** What is different about the page since its flow was written. */
export interface Breakage {
  /** Other names, by the old one. */
  readonly rename?: { readonly [name: string]: string };
  /** The form stands on a page of its own, behind a link. */
  readonly move?: true;
  /** The fields are inside something that must be opened first, or the country is chosen with radio buttons. */
  readonly wrap?: 'details' | 'radios';
  /** The form has two pages. */
  readonly split?: 'before terms' | 'before country';
  /** Something must be answered first. */
  readonly dialog?: 'modal' | 'confirm' | 'cover';
  /** The answer stands in another element. */
  readonly answer?: true;
}

/** The flow that the page was made for. */
export const SIGN_UP_FLOW = `// Signs up, and checks the greeting.
({ base, name = 'Ada' }) => {
  agent.go(\`\${base}/\`);
  agent.act('{input}Name', 'input', name);
  agent.act('{select}Country', 'select', 'Belgium');
  agent.act('{input}Terms', 'check');
  agent.act('{button}Sign up', 'click');
  match(agent.text('#said'), \`Hello \${name} from Belgium\`);
  return agent.text('#said');
};
`;

/** Breakages as real sites make them: one of each kind, and some together. */
export const BREAKAGES: { readonly [name: string]: Breakage } = {
  'a field renamed': { rename: { Name: 'Full name' } },
  'a choice renamed': { rename: { Country: 'Land' } },
  'a check box renamed': { rename: { Terms: 'I agree to everything' } },
  'a button renamed': { rename: { 'Sign up': 'Join' } },
  'everything renamed': {
    rename: { Name: 'Full name', Country: 'Land', Terms: 'I agree to everything', 'Sign up': 'Join' },
  },
  'the form moved behind a link': { move: true },
  'the fields folded away': { wrap: 'details' },
  'the choice made with radio buttons': { wrap: 'radios' },
  'the last step split off': { split: 'before terms' },
  'the first step split off': { split: 'before country' },
  'a modal dialog first': { dialog: 'modal' },
  'a question of the browser first': { dialog: 'confirm' },
  'a cover over the page': { dialog: 'cover' },
  'the greeting elsewhere': { answer: true },
  'moved, renamed and split': { move: true, rename: { Name: 'Full name', 'Sign up': 'Join' }, split: 'before terms' },
};

/** Puts the page on a site, as it is with the breakage; answers its address. */
export function openSignUp(site: Site, path: string, breakage: Breakage): string {
  const form: RequestListener = (request, response) => {
    const { searchParams } = new URL(request.url ?? '/', site.origin);
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(pageOf(path, breakage, searchParams));
  };
  if (breakage.move) site.set(`${path}/`, `<title>Home</title><a href="${path}/form">Sign up here</a>`);
  else site.set(`${path}/`, form);
  site.set(`${path}/form`, form);
  site.set(`${path}/done`, (request, response) => {
    const { searchParams } = new URL(request.url ?? '/', site.origin);
    const greeting = `Hello ${searchParams.get('name')} from ${searchParams.get('country')}`;
    const mark = breakage.answer ? 'class="greeting"' : 'id="said"';
    response
      .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
      .end(`<title>Welcome</title><p ${mark}>${greeting}</p>`);
  });
  return site.origin + path;
}

function pageOf(path: string, { rename = {}, wrap, split, dialog }: Breakage, given: URLSearchParams): string {
  const word = (name: string) => rename[name] ?? name;
  const countries = ['Austria', 'Belgium', 'Chile'];
  const fields = {
    name: `<p><label>${word('Name')} <input name=name></label></p>`,
    country:
      wrap === 'radios'
        ? countries.map((one) => `<p><label><input type=radio name=country value=${one}> ${one}</label></p>`).join('')
        : `<p><label>${word('Country')} <select name=country><option>Choose<option>${countries.join('<option>')}</select></label></p>`,
    terms: `<p><label><input type=checkbox required> ${word('Terms')}</label></p>`,
  };
  const steps = { 'before terms': ['name', 'country'], 'before country': ['name'] } as const;
  const first: readonly (keyof typeof fields)[] = split === undefined ? ['name', 'country', 'terms'] : steps[split];
  const second = (['name', 'country', 'terms'] as const).filter((name) => !first.includes(name));
  const atSecond = given.get('step') === '2';
  const shown = (atSecond ? second : first).map((name) => fields[name]).join('');
  const kept = [...given].map(([name, value]) => `<input type=hidden name=${name} value="${value}">`).join('');
  const last = split === undefined || atSecond;
  const inner = wrap === 'details' ? `<details><summary>More</summary>${shown}</details>` : shown;
  const action = last ? `${path}/done` : `${path}/form`;
  const asks = !given.has('step') && dialog !== undefined;
  return `<!doctype html><title>Sign up</title><form action="${action}">${atSecond ? kept : ''}${last ? '' : '<input type=hidden name=step value=2>'}
    ${inner}<button>${last ? word('Sign up') : 'Continue'}</button></form>${asks ? dialogOf(dialog) : ''}`;
}

function dialogOf(dialog: NonNullable<Breakage['dialog']>): string {
  switch (dialog) {
    case 'modal':
      return `<dialog id=ask><button onclick="this.parentElement.close()">Got it</button></dialog><script>ask.showModal()</script>`;
    case 'confirm':
      return `<script>alert('We have news')</script>`;
    case 'cover':
      return `<div style="position:fixed;inset:0;background:white"><button onclick="this.parentElement.remove()">Close</button></div>`;
  }
}
