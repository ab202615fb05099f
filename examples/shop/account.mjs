import { html } from './html.mjs';
import { page, redirect } from './replies.mjs';

export const accountRoutes = [
  ['GET', '/login', (visit) => loginPage(visit, { next: visit.query.get('next') })],
  ['POST', '/login', login],
  ['POST', '/logout', logout],
];

/** Wraps a handler of a page that is only for those who have logged in. */
export function forMembers(handler) {
  return (visit) =>
    visit.session?.account ? handler(visit) : redirect(`/login?next=${encodeURIComponent(visit.path)}`);
}

function loginPage(visit, { next, user = '', message = null }) {
  const main = html`<h1>Log in</h1>
${message && html`<p role="alert" class="alert">${message}</p>`}
<form method="post" action="/login" class="stack">
<input type="hidden" name="next" value="${localPath(next)}">
<p><label for="user">User name</label><input id="user" name="user" value="${user}" autocomplete="username" required></p>
<p><label for="password">Password</label><input id="password" name="password" type="password" autocomplete="current-password" required></p>
<p><button>Log in</button></p>
</form>
<p class="hint">Two people shop here: <b>ada</b> with the password <b>lovelace</b>, and <b>grace</b> with <b>hopper</b>.</p>`;
  return page(visit, { status: message ? 403 : 200, title: 'Log in', main });
}

async function login(visit) {
  const form = await visit.form();
  const next = form.get('next');
  const user = String(form.get('user') ?? '').slice(0, 100);
  const account = visit.store.login(user, String(form.get('password') ?? ''));
  if (account === null) {
    return loginPage(visit, { next, user, message: 'The user name or the password is wrong.' });
  }
  // A new token: one that was known before the login opens nothing after it.
  visit.renewSession().account = account;
  return redirect(localPath(next));
}

function logout(visit) {
  if (visit.session) visit.store.endSession(visit.session);
  return { ...redirect('/'), cookies: ['shop=; Max-Age=0'] };
}

/** A path of this shop, or its first page: a login never sends anyone elsewhere. */
function localPath(next) {
  return typeof next === 'string' && /^\/(?![/\\])[\w/-]*$/.test(next) ? next : '/';
}
