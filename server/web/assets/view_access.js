// Who may call the server: for administrators. Tokens and codes are shown once, when they are made.
import {get, post} from './api.js';
import {badge, confirmed, h, liveTable, problem, show} from './dom.js';
import {date} from './format.js';

const roleName = (role) => role.replace('ROLE_', '').toLowerCase();
function stateOf(record) {
  if (Number(record.revokedNs)) return ['bad', 'revoked'];
  if (Number(record.expiresNs) && Number(record.expiresNs) / 1e6 < Date.now()) return ['rest', 'expired'];
  return {INVITED: ['warn', 'invited'], JOINED: ['good', 'joined'], TOKEN: ['good', 'token']}[record.kind] ?? ['rest', record.kind];
}
const DAY = 86400e9;

export async function open(main, {setTitle}) {
  setTitle('Access');
  const trouble = h('div', {'aria-live': 'assertive'});
  const made = h('div', {'aria-live': 'polite'});
  const foot = h('div', {class: 'more'});
  let records = [];
  let next = '';
  const table = liveTable({caption: 'Who may call the server', key: (r) => r.id, empty: 'Nobody yet.', columns: [
    {title: 'Name', cell: (r) => r.name, sort: (r) => r.name}, {title: 'State', cell: (r) => badge(...stateOf(r)), sort: (r) => stateOf(r)[1]},
    {title: 'Roles', cell: (r) => (r.roles ?? []).map(roleName).join(', ')},
    {title: 'Since', cell: (r) => date(r.createdNs), sort: (r) => Number(r.createdNs)}, {title: 'Expires', cell: (r) => (Number(r.expiresNs) ? date(r.expiresNs) : '–')},
    {title: 'Id', class: 'mono', cell: (r) => r.id},
    {title: 'Revoke', unseen: true, cell: (r) => (r.isOwn || Number(r.revokedNs) ? h('span', {class: 'quiet'}, r.isOwn ? 'the server\'s own' : date(r.revokedNs)) :
      h('button', {type: 'button', class: 'plain', click: () => revoke(r), 'aria-label': `revoke ${r.name}, ${r.id}`}, 'Revoke'))}]});

  async function load(more) {
    try {
      const list = await get('/identities', {pageSize: 200, pageToken: more ? next : ''});
      records = more ? records.concat(list.records ?? []) : list.records ?? [];
      next = list.nextPageToken ?? '';
      table.update(records);
      show(foot, h('span', {}, `${records.length} shown`), next ? h('button', {type: 'button', click: () => load(true)}, 'More') : null);
    } catch (error) {
      show(trouble, problem(error));
    }
  }
  async function revoke(record) {
    if (!(await confirmed(`Shut ${record.name} (${record.id}) out for good?`, 'Revoke'))) return;
    await post(`/identities/${encodeURIComponent(record.id)}/revoke`).catch((error) => show(trouble, problem(error)));
    load();
  }
  async function make(event, path, secretOf, text) {
    event.preventDefault();
    const form = new FormData(event.target);
    show(trouble);
    try {
      const answer = await post(path, {name: form.get('name').trim(), roles: form.get('roles').split('+').map((role) => `ROLE_${role.toUpperCase()}`), lifetimeNs: String(BigInt(form.get('days')) * BigInt(DAY))});
      const secret = secretOf(answer);
      show(made, h('div', {class: 'secret'}, h('p', {}, text(answer.record.name)), h('code', {id: 'made'}, secret), ' ',
        h('button', {type: 'button', click: (click) => navigator.clipboard?.writeText(secret).then(() => { click.target.textContent = 'Copied'; }, () => {})}, 'Copy')));
      event.target.reset();
      load();
    } catch (error) {
      show(trouble, problem(error));
    }
  }
  const fields = (roles, days) => [h('label', {class: 'grow'}, 'Name', h('input', {name: 'name', required: true, pattern: '[a-z0-9][a-z0-9_\\-]*', maxlength: 63, spellcheck: 'false', title: 'small letters, digits, _ and -'})),
    h('label', {}, 'May act as', h('select', {name: 'roles'}, roles.map((role) => h('option', {value: role}, role)))),
    h('label', {}, 'For days', h('input', {type: 'number', name: 'days', value: days, min: 1, max: days === 1 ? 30 : 3650}))];
  show(main, h('div', {class: 'head'}, h('h1', {}, 'Access')), trouble, made,
    h('div', {class: 'columns'},
      h('section', {class: 'sheet'}, h('h2', {}, 'New token'), h('p', {class: 'quiet'}, 'For this page, and for programs that cannot join.'),
        h('form', {class: 'row', submit: (event) => make(event, '/tokens', (answer) => answer.token, (name) => `The token of ${name}. It is not shown again:`)}, fields(['user', 'admin', 'user+admin', 'agent'], 90), h('button', {class: 'strong'}, 'Make a token'))),
      h('section', {class: 'sheet'}, h('h2', {}, 'New invitation'), h('p', {class: 'quiet'}, 'A code, good once, by which a machine or a person joins.'),
        h('form', {class: 'row', submit: (event) => make(event, '/invitations', (answer) => answer.code, (name) => `The code of ${name}. It is not shown again:`)}, fields(['user', 'agent', 'worker', 'admin'], 1), h('button', {class: 'strong'}, 'Invite')))),
    h('section', {class: 'sheet flush'}, h('h2', {}, 'Who may call the server'), table.element, foot));
  await load();
}
