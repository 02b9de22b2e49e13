// This page as a device: who lets it be one, what it is, and what it was given.
import {badge, facts, h, liveTable, oncePerFrame, problem, sheet, show} from './dom.js';
import {bytes, date, duration} from './format.js';
import {whenEnded} from './worker_life.js';

const MOST_MEMORY = 4096;
// Rows of the table.
const MOST_SHOWN = 100;
const STATES = {running: ['busy', 'running'], done: ['good', 'done'], failed: ['bad', 'failed'], stopped: ['', 'stopped']};

const main = document.getElementById('main');
let agent = null;

// What a browser tells of itself and of its machine.
async function describe() {
  const data = navigator.userAgentData;
  const known = await data?.getHighEntropyValues(['fullVersionList', 'platformVersion', 'architecture']).catch(() => null);
  // Chromium names a brand that there is not, so that nobody counts on the list.
  const brands = (known?.fullVersionList ?? []).filter(({brand}) => !/not.?a/i.test(brand));
  const brand = brands.find(({brand: name}) => name !== 'Chromium') ?? brands[0];
  const other = /(Firefox|Edg|Chrome|Version)\/([\d.]+)/.exec(navigator.userAgent);
  return {
    model: brand ? `${brand.brand} ${brand.version}` : other ? `${other[1] === 'Version' ? 'Safari' : other[1]} ${other[2]}` : 'a browser',
    os: [known?.platform ?? navigator.platform, known?.platformVersion, known?.architecture].filter(Boolean).join(' '),
    cores: navigator.hardwareConcurrency ?? 1,
    memoryBytes: String((navigator.deviceMemory ?? 0) * 2 ** 30),
  };
}

function resultOf({state, result, message}) {
  if (state === 'failed') return message;
  if (state !== 'done') return '';
  if (result.runNs) return `run ${duration(result.runNs)}`;
  const calls = Number(result.iterationsPerSample);
  const least = result.samplesNs.reduce((least, ns) => Math.min(least, Number(ns)), Infinity);
  return `least ${duration(least / calls)}, ${result.samplesNs.length} samples of ${calls} ${calls === 1 ? 'call' : 'calls'}`;
}

// Of an agent that has begun.
function open({token, id, memory, device}) {
  const state = h('span', {role: 'status'}, badge('busy', 'joining'));
  const trouble = h('div', {'aria-live': 'assertive'});
  const about = h('div');
  const attempts = new Map();
  const table = liveTable({
    caption: 'What this device was given', key: ({id}) => id, empty: 'Nothing yet. slipway run and slipway bench give it work.',
    columns: [
      {title: 'State', cell: (attempt) => badge(...STATES[attempt.state])},
      {title: 'Kind', cell: ({kind}) => kind},
      {title: 'Result', cell: resultOf},
      {title: 'Took', number: true, cell: ({begin, end}) => (end ? duration((end - begin) * 1e6) : '')},
      {title: 'Begun', cell: ({begin}) => date(begin * 1e6)},
      {title: 'Job', cell: ({job}) => h('a', {class: 'mono', href: `/jobs/${job}`}, job)},
    ]});
  // A worker that computes outlives its page for some seconds: so that the page says it itself.
  let instance = null;
  const leave = () => {
    if (instance) fetch(`/api/v1/agents/${instance}`, {method: 'DELETE', keepalive: true, headers: {Authorization: `Bearer ${token}`}}).catch(() => {});
    instance = null;
  };
  addEventListener('pagehide', leave);
  const update = oncePerFrame(() => table.update([...attempts.values()].reverse()));
  const life = `slipway-agent-${crypto.randomUUID()}`;
  const stopped = new AbortController();
  const stop = (error) => {
    stopped.abort();
    removeEventListener('pagehide', leave);
    leave();
    agent?.terminate();
    agent = null;
    ask({id, memory}, error);
  };
  show(main, h('div', {class: 'head'}, h('h1', {tabindex: -1}, 'This page is a device'), state,
    h('div', {class: 'end'}, h('button', {type: 'button', click: () => stop(null)}, 'Stop')),
    h('p', {class: 'under'}, 'It is one for as long as it is open. Keep it in sight: browsers slow down what nobody looks at.')),
  trouble, about, h('section', {class: 'sheet flush'}, h('h2', {}, 'Work'), table.element));

  agent = new Worker('/assets/device_agent.js', {type: 'module', name: 'agent'});
  agent.onerror = (event) => stop(new Error(`The agent's worker has ended: ${event.message ?? 'its files cannot be read'}`));
  agent.onmessage = ({data}) => {
    if (data.isAlive) whenEnded(life, stopped.signal, () => stop(new Error('The agent\'s worker has ended without a word')));
    if (data.refused !== undefined) stop(new Error(data.refused));
    if (data.instance) ({instance} = data);
    if (data.status) {
      show(state, data.status === 'ready' ? badge('good', 'ready') : badge('warn', 'away'));
      show(trouble, data.status === 'away' ? h('p', {class: 'note-box'}, `The server is away, and is tried again: ${data.message}`) : null);
    }
    if (data.device) {
      document.title = `${data.device.id} · Slipway`;
      show(about, sheet('', facts([
        ['Device', h('a', {href: `/devices/${data.device.id}`}, data.device.id)], ['Target', h('code', {}, data.device.target)], ['Browser', data.device.model], ['System', data.device.os],
        ['Cores', data.device.cores], ['Memory', Number(data.device.memoryBytes) ? bytes(data.device.memoryBytes) : 'the browser does not tell'], ['A program may have', bytes(memory * 2 ** 20)],
        ['Clock', `tells ${duration(data.resolution * 1e6)} apart`]])));
    }
    if (data.attempt) {
      attempts.set(data.attempt.id, data.attempt);
      if (attempts.size > MOST_SHOWN) attempts.delete(attempts.keys().next().value);
      update();
    }
  };
  agent.postMessage({token, id, device, maxMemoryBytes: memory * 2 ** 20, life});
}

function ask({id = '', memory = 1024}, error = null) {
  document.title = 'A device · Slipway';
  const token = h('input', {type: 'password', id: 'token', autocomplete: 'off', required: true, spellcheck: 'false'});
  const name = h('input', {id: 'id', value: id, spellcheck: 'false', autocomplete: 'off', placeholder: 'as the token\'s name', pattern: '[a-z0-9][a-z0-9._\\-]*', maxlength: 64});
  const limit = h('input', {id: 'memory', type: 'number', min: 1, max: MOST_MEMORY, required: true, value: memory});
  show(main, h('div', {class: 'sign-in'}, h('section', {class: 'sheet'},
    h('form', {submit: async (event) => {
      event.preventDefault();
      open({token: token.value.trim(), id: name.value.trim(), memory: Number(limit.value), device: await describe()});
    }},
    h('h1', {tabindex: -1}, 'Make this page a device'),
    h('div', {'aria-live': 'assertive'}, error ? problem(error) : null),
    h('label', {for: 'token'}, 'Token of an agent', token),
    h('label', {for: 'id'}, 'Device', name),
    h('label', {for: 'memory'}, 'Memory of a program, MiB', limit),
    h('button', {class: 'strong'}, 'Begin'),
    h('p', {class: 'quiet small'}, 'A token comes from who runs the server: ', h('code', {}, 'slipwayd token agent NAME'), '. The device is NAME, or NAME, a dot and what you like. The page forgets the token when it is closed.')))));
  token.focus();
}

// "#token=...&id=...&memory=...", as links have it; the address forgets it at once.
async function begin() {
  if (!isSecureContext) return show(main, problem(new Error('Browsers let a page be a device by https alone, or on this machine itself: serve slipway-web with --certificate.')));
  const given = new URLSearchParams(location.hash.slice(1));
  history.replaceState(null, '', location.pathname);
  const memory = Math.min(Math.max(Math.floor(Number(given.get('memory')) || 1024), 1), MOST_MEMORY);
  const id = given.get('id') ?? '';
  if (given.get('token')) open({token: given.get('token'), id, memory, device: await describe()});
  else ask({id, memory});
}

begin();
