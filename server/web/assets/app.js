// The frame around all views: who is signed in, where one is, whether the server is there.
import {get, onConnection, remove} from './api.js';
import {h, problem, show} from './dom.js';
import {routeOf, VIEWS} from './router.js';

const main = document.getElementById('main');
const nav = document.getElementById('nav');
let session = null;
let leave = null;  // Ends what the view that is shown goes on doing.
let visits = 0;

function drawFrame(path) {
  const views = VIEWS.filter((view) => view.title && (!view.administrators || session?.administrator));
  nav.hidden = !session;
  show(nav, h('ul', {}, views.map((view) => h('li', {}, h('a', {
    href: view.path,
    'aria-current': path === view.path || path.startsWith(`${view.path}/`) ? 'page' : null,
  }, view.title)))));
  show(document.getElementById('account'), session ? [
    h('span', {class: 'quiet small'}, [session.server?.caller?.owner, session.administrator ? 'administrator' : 'user'].filter(Boolean).join(' · ')),
    h('button', {type: 'button', click: signOut}, 'Sign out')] : []);
}

async function signOut() {
  await remove('/session').catch(() => {});
  session = null;
  await visit();
}

async function showSignIn(expired) {
  const view = await import('./view_sign_in.js');
  drawFrame('');
  return view.open(main, {expired, signedIn: (found) => { session = found; visit(); }});
}

// Shows the view of the address that the browser has.
async function visit(expired = false) {
  const mine = ++visits;
  leave?.();
  leave = null;
  // A token in the address is of who wants to be let in now, whoever was before.
  if (location.hash.startsWith('#token=')) session = null;
  if (!session && !location.hash.startsWith('#token=')) {
    try {
      const found = await get('/session');
      session = found.signedIn ? found : null;
    } catch (error) {
      show(main, problem(error));
      setTimeout(() => mine === visits && visit(), 3000);
      return;
    }
  }
  if (mine !== visits) return;
  if (!session) {
    document.title = 'Sign in · Slipway';
    leave = await showSignIn(expired);
    return;
  }
  if (location.pathname === '/') history.replaceState(null, '', '/devices');
  const {view, parts} = routeOf(location.pathname);
  drawFrame(location.pathname);
  if (!view) {
    document.title = 'Not found · Slipway';
    show(main, h('h1', {tabindex: -1}, 'There is no such page'), h('p', {}, 'The address may be mistyped. ', h('a', {href: '/devices'}, 'To the devices.')));
    return;
  }
  const context = {session, parts, values: new URLSearchParams(location.search), go, setTitle: (text) => { document.title = `${text} · Slipway`; }};
  try {
    const module = await view.load();
    if (mine !== visits) return;
    const stop = await module.open(main, context);
    if (mine !== visits) return stop?.();
    leave = stop ?? null;
  } catch (error) {
    if (mine !== visits || error.name === 'AbortError' || error.status === 401) return;
    show(main, h('h1', {tabindex: -1}, 'This cannot be shown'), problem(error), h('button', {type: 'button', click: () => visit()}, 'Try again'));
  }
}

// To another view; `replace` for another state of the same one.
export function go(address, {replace = false} = {}) {
  if (replace) return history.replaceState(null, '', address);
  history.pushState(null, '', address);
  visit().then(() => {
    scrollTo(0, 0);
    const heading = main.querySelector('h1');
    heading?.setAttribute('tabindex', '-1');
    heading?.focus({preventScroll: true});
  });
}

document.addEventListener('click', (event) => {
  const link = event.target.closest?.('a[href]');
  if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const address = new URL(link.getAttribute('href'), location.href);
  if (address.origin !== location.origin || link.target || address.pathname.startsWith('/api/') || link.hasAttribute('download')) return;
  if (address.hash && address.pathname === location.pathname) return;
  event.preventDefault();
  go(address.pathname + address.search);
});
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.closest?.('input, textarea, select')) return;
  const first = main.querySelector('input[type="search"]');
  if (first) {
    event.preventDefault();
    first.focus();
  }
});
addEventListener('popstate', () => visit());
onConnection((news) => {
  if (news.signedOut && session) {
    session = null;
    visit(true);
  }
  if (news.away !== undefined) document.getElementById('connection').textContent = news.away;
});
visit();
