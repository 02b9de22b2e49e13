// The fleet: what each device does, who holds it, and whether it is given work. Live.
import {followLists, get} from './api.js';
import {badge, h, liveTable, oncePerFrame, problem, show} from './dom.js';
import {bytes, date, deviceState, loadOf, temperatureOf} from './format.js';

const PAGE = 50;
const FIELDS = ['description.id', 'description.target', 'description.model', 'description.cores', 'description.memoryBytes', 'description.labels',
  'state', 'jobId', 'lastSeenNs', 'warning', 'lease', 'availability', 'labels', 'machine'].map((field) => `devices.${field}`)
  .concat('total', 'nextPageToken', 'explanation', 'idle', 'busy', 'lost').join(',');

export function labelsOf(device) {
  const labels = new Map((device.description?.labels ?? []).map((label) => [label.key, label.value]));
  for (const label of device.labels ?? []) labels.set(label.key, label.value);
  return [...labels].map(([key, value]) => h('span', {class: 'tag'}, value ? `${key}=${value}` : key));
}

function holder(device) {
  const lease = device.lease;
  if (!lease) {
    const reservation = device.availability?.reservation;
    return reservation && device.availability.state === 'RESERVED' ? `reserved by ${reservation.owner}` : h('span', {class: 'quiet'}, '–');
  }
  const what = [lease.owner, String(lease.kind ?? '').toLowerCase(), lease.purpose].filter(Boolean).join(' · ');
  return [lease.jobId ? h('a', {href: `/jobs/${lease.jobId}`}, what) : what, h('div', {class: 'quiet small'}, `since ${date(lease.sinceNs)}`)];
}

export async function open(main, {values, setTitle, go}) {
  setTitle('Devices');
  let selector = values.get('selector') ?? '';
  let tokens = [''];  // Of the pages up to this one.
  let page = {devices: []};
  let known = new Map();
  const states = new Map();  // Of all that have changed, on other pages, too.
  const trouble = h('div');
  const counts = h('div');
  const foot = h('div', {class: 'more'});
  const table = liveTable({
    caption: 'Devices', key: (device) => device.description.id, empty: 'No device here. An agent that joins shows up by itself.',
    columns: [
      {title: 'Device', cell: (d) => [h('a', {href: `/devices/${encodeURIComponent(d.description.id)}`}, d.description.id), d.warning ? h('div', {class: 'small'}, badge('warn', d.warning)) : null]},
      {title: 'State', cell: (d) => [badge(...deviceState(d)), d.availability?.reason ? h('div', {class: 'quiet small'}, d.availability.reason) : null]},
      {title: 'Held by', cell: holder},
      {title: 'Temperature', number: true, cell: (d) => temperatureOf(d.machine)},
      {title: 'Load', number: true, cell: (d) => loadOf(d.machine)},
      {title: 'Target', class: 'mono', cell: (d) => d.description.target},
      {title: 'Machine', cell: (d) => `${d.description.model ?? ''}, ${d.description.cores ?? '?'} cores, ${bytes(d.description.memoryBytes)}`},
      {title: 'Labels', cell: labelsOf},
    ],
  });

  const draw = oncePerFrame(() => {
    const [idle, busy, lost] = [page.idle ?? 0, page.busy ?? 0, page.lost ?? 0];
    show(counts, h('div', {class: 'tiles'},
      [['Devices', page.total ?? 0], ['Idle', idle], ['Busy', busy], ['Lost', lost]].map(([name, number]) =>
        h('dl', {class: 'tile'}, h('dt', {}, name), h('dd', {}, String(number))))));
    table.update([...known.values()]);
    show(foot, h('span', {}, page.total ? `${(tokens.length - 1) * PAGE + 1} to ${(tokens.length - 1) * PAGE + known.size} of ${page.total}` : page.explanation ?? ''),
      tokens.length > 1 ? h('button', {type: 'button', click: () => { tokens.pop(); load(); }}, 'Back') : null,
      page.nextPageToken ? h('button', {type: 'button', click: () => { tokens.push(page.nextPageToken); load(); }}, 'Next') : null);
    foot.hidden = !page.total && !page.explanation;
  });

  async function load() {
    try {
      page = await get('/devices', {selector, pageSize: PAGE, pageToken: tokens.at(-1), fields: FIELDS});
      known = new Map((page.devices ?? []).map((device) => [device.description.id, device]));
      show(trouble);
    } catch (error) {
      show(trouble, problem(error));
    }
    draw();
  }

  const filter = h('input', {type: 'search', value: selector, placeholder: 'arch=x86-64 memory>=4GiB label:lab=berlin', 'aria-describedby': 'filter-help', spellcheck: 'false'});
  show(main, h('div', {class: 'head'}, h('h1', {}, 'Devices'), h('div', {class: 'end'}, h('a', {class: 'button', href: '/submit'}, 'Submit a model'))),
    h('form', {class: 'row', role: 'search', submit: (event) => {
      event.preventDefault();
      selector = filter.value.trim();
      tokens = [''];
      go(`/devices${selector ? `?selector=${encodeURIComponent(selector)}` : ''}`, {replace: true});
      load();
    }}, h('label', {class: 'grow'}, 'Name or selector', filter), h('button', {}, 'Filter')),
    h('p', {class: 'unseen', id: 'filter-help'}, 'A device\'s name, or conditions on what devices are.'),
    trouble, counts, h('section', {class: 'sheet flush'}, table.element, foot));
  await load();
  let again = null;
  return followLists(['devices'], {
    ready: load,
    devices: ({changed, gone}) => {
      let areCountsOld = gone.length > 0;
      for (const device of changed) {
        const id = device.description.id;
        if (known.has(id)) known.set(id, {...known.get(id), lease: undefined, jobId: undefined, warning: undefined, availability: undefined, labels: undefined, machine: undefined, ...device});
        areCountsOld ||= states.get(id) !== device.state;
        states.set(id, device.state);
      }
      for (const id of gone) known.delete(id);
      draw();
      // What is counted, and who else is on this page, a moment later: once for all changes until then.
      if (areCountsOld) again ??= setTimeout(() => { again = null; load(); }, 3000);
    },
  });
}
