// One device: what it is, what it does, what it was measured to do, and what is measured on it.
import {followLists, get, post} from './api.js';
import {badge, confirmed, facts, h, liveTable, problem, sheet, show} from './dom.js';
import {ago, bytes, date, deviceState, duration, jobState, kindOf, loadOf, short, subjectOf, temperatureOf} from './format.js';
import {labelsOf} from './view_devices.js';

const ACTIONS = {AVAILABLE: [['DRAIN', 'Drain'], ['QUARANTINE', 'Quarantine']], RESERVED: [['DRAIN', 'Drain']],
  DRAINING: [['UNDRAIN', 'Give it work again']], DRAINED: [['UNDRAIN', 'Give it work again']], QUARANTINED: [['UNQUARANTINE', 'End quarantine']]};

function peaksTable(peaks) {
  const threads = peaks?.onThreads ?? [];
  const accelerators = peaks?.accelerators ?? [];
  const columns = [...threads.map((on) => ({...on, title: on.threads === 1 ? '1 thread' : `${on.threads} threads`})),
    ...accelerators.map((each) => ({...each, title: each.name}))];
  if (!columns.length) return h('p', {class: 'quiet'}, 'Not measured yet.');
  const rows = new Map();
  const put = (name, column, text) => {
    if (!rows.has(name)) rows.set(name, {name, cells: []});
    rows.get(name).cells[column] = text;
  };
  columns.forEach((on, column) => {
    for (const a of on.arithmetic ?? []) put(`${a.type} operations`, column, `${short(a.operationsPerSecond)}/s`);
    for (const r of on.reading ?? []) put(`reading ${r.level}`, column, `${bytes(r.bytesPerSecond)}/s`);
    if (on.fromHostBytesPerSecond) put('copying from the host', column, `${bytes(on.fromHostBytesPerSecond)}/s`);
    if (on.toHostBytesPerSecond) put('copying to the host', column, `${bytes(on.toHostBytesPerSecond)}/s`);
  });
  const table = liveTable({caption: 'Peaks', key: (row) => row.name, columns: [{title: 'What', cell: (row) => row.name},
    ...columns.map((on, column) => ({title: on.title, number: true, cell: (row) => row.cells[column] ?? '–'}))]});
  table.update([...rows.values()]);
  return table.element;
}

export async function open(main, {session, parts, setTitle}) {
  const [id] = parts;
  setTitle(id);
  const trouble = h('div', {'aria-live': 'assertive'});
  const head = h('div', {class: 'head'});
  const now = h('div', {class: 'columns'});
  const jobs = liveTable({caption: 'Jobs of this device', key: (job) => job.id, empty: 'No job of yours has been here.', columns: [
    {title: 'Job', class: 'mono', cell: (job) => h('a', {href: `/jobs/${job.id}`}, job.id)},
    {title: 'State', cell: (job) => badge(...jobState(job.state))},
    {title: 'What', cell: (job) => kindOf(job)},
    {title: 'Subject', class: 'clip', cell: subjectOf},
    {title: 'Ended', cell: (job) => date(job.endTimeNs)}]});

  async function act(action, title) {
    if (!(await confirmed(`${title}: ${id}?`, title))) return;
    await post(`/devices/${encodeURIComponent(id)}/availability`, {action, reason: 'from the page'}).catch((error) => show(trouble, problem(error)));
    load();
  }

  async function load() {
    let device;
    try {
      const page = await get('/devices', {selector: id});
      device = (page.devices ?? [])[0];
      if (!device) throw new Error(`There is no device "${id}" any more.`);
      show(trouble);
    } catch (error) {
      show(head, h('h1', {}, id), badge('bad', 'gone'));
      show(trouble, problem(error));
      return;
    }
    const d = device.description;
    const inventory = d.inventory ?? {};
    const given = device.availability ?? {};
    show(head, h('h1', {}, id), badge(...deviceState(device)), h('div', {class: 'end'},
      session.administrator ? (ACTIONS[given.state] ?? []).map(([action, title]) => h('button', {type: 'button', click: () => act(action, title)}, title)) : null,
      h('a', {class: 'button', href: `/history?device=${encodeURIComponent(id)}`}, 'History')),
    h('div', {class: 'under'}, d.target));
    const lease = device.lease;
    const health = device.health ?? {};
    show(now,
      sheet('Now', facts([
        ['Held by', lease ? [lease.owner, ' · ', String(lease.kind).toLowerCase(), lease.purpose ? ` · ${lease.purpose}` : '', lease.jobId ? [' · ', h('a', {href: `/jobs/${lease.jobId}`}, 'job')] : ''] : 'nobody'],
        lease && ['Since', ago(lease.sinceNs)], lease && Number(lease.untilNs) ? ['Until at the latest', date(lease.untilNs)] : null,
        ['Given work', `${String(given.state ?? 'unknown').toLowerCase()}${given.reason ? `: ${given.reason}` : ''}${given.by ? ` (${given.by})` : ''}`],
        given.reservation && ['Reservation', `${given.reservation.owner}, ${date(given.reservation.fromNs)} to ${date(given.reservation.untilNs)}${given.reservation.purpose ? `, ${given.reservation.purpose}` : ''}`],
        ['Last heard', ago(device.lastSeenNs)],
        ['Temperature', temperatureOf(device.machine)], ['Load', loadOf(device.machine)],
        ['Last probe', Number(health.probeEndNs) ? `${ago(health.probeEndNs)}: ${health.probeError || 'passed'}${health.probeCallNs ? `, ${duration(health.probeCallNs)} a call` : ''}` : 'none yet'],
        ['Failures in a row', health.failures], ['Warning', device.warning]])),
      sheet('What it is', facts([
        ['Model', d.model], ['Cores', (inventory.coreKinds ?? []).map((kind) => `${kind.cores}${Number(kind.maxFrequencyHz) ? ` at ${(kind.maxFrequencyHz / 1e9).toFixed(2)} GHz` : ''}`).join(' + ') || d.cores],
        ['Memory', bytes(d.memoryBytes)], ['System', d.os], ['Kernel', inventory.kernel],
        ['Storage', inventory.storageBytes ? `${bytes(inventory.storageFreeBytes)} free of ${bytes(inventory.storageBytes)}` : null],
        ['Power', inventory.power ? `${inventory.power.toLowerCase()}${inventory.chargePercent === undefined ? '' : `, ${inventory.chargePercent} %`}` : null],
        ['Machine', inventory.machine?.toLowerCase()], ['Accelerators', (inventory.accelerators ?? []).join(', ')],
        ['Agent', `${device.agentId}, version ${device.agentVersion}`], ['Programs', d.confinement ? ((d.confinement.missing ?? []).length ? `confined but for: ${d.confinement.missing.join('; ')}` : 'confined wholly') : 'not confined'],
        ['Labels', labelsOf(device)]])),
      sheet('What it does at most', peaksTable(d.peaks)));
  }

  async function loadJobs() {
    jobs.update((await get('/jobs', {device: id, pageSize: 20, ofEverybody: session.administrator})).jobs ?? []);
  }

  show(main, head, trouble, now, h('section', {class: 'sheet flush'}, h('h2', {}, 'Latest jobs'), jobs.element));
  await Promise.all([load(), loadJobs()]);
  return followLists(['devices'], {ready: load, devices: ({changed, gone}) => {
    if (gone.includes(id) || changed.some((device) => device.description.id === id)) {
      load();
      loadJobs().catch(() => {});
    }
  }});
}
