// Signing in by a token. One in the address behind "#token=", as slipway-web and quickstart print it, is taken from there and never sent
// in an address.
import {post} from './api.js';
import {h, problem, show} from './dom.js';

export function open(main, {expired, signedIn}) {
  const trouble = h('div', {'aria-live': 'assertive'});
  const token = h('input', {type: 'password', id: 'token', autocomplete: 'current-password', required: true, spellcheck: 'false'});
  const button = h('button', {class: 'strong'}, 'Sign in');

  async function submit(text) {
    button.disabled = true;
    show(trouble);
    try {
      signedIn(await post('/session', {token: text.trim()}));
    } catch (error) {
      show(trouble, problem(error));
      button.disabled = false;
      token.focus();
    }
  }

  show(main, h('div', {class: 'sign-in'}, h('section', {class: 'sheet'},
    h('form', {submit: (event) => { event.preventDefault(); submit(token.value); }},
      h('h1', {tabindex: -1}, 'Sign in'),
      expired ? h('p', {class: 'note-box'}, 'The session has ended. Sign in again to go on here.') : null,
      trouble,
      h('label', {for: 'token'}, 'Token', token),
      button,
      h('p', {class: 'quiet small'}, 'A token comes from who runs the server: ', h('code', {}, 'slipwayd token user NAME'), '. It stays in this page\'s process; the browser keeps a cookie that scripts cannot read.')))));
  const given = /^#token=(.+)$/.exec(location.hash);
  if (given) {
    history.replaceState(null, '', location.pathname + location.search);
    submit(decodeURIComponent(given[1]));
  } else {
    token.focus();
  }
}
