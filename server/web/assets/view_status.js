// What the server is doing, in sums, and what it does not begin. Live.
import {followLists, get} from './api.js';
import {badge, facts, h, liveTable, problem, sheet, show, tiles} from './dom.js';
import {ago, bytes, count, duration} from './format.js';

const NEEDS = {WORKER: 'a worker', NAMED_DEVICE: 'one device', ANY_DEVICE: 'any device'};
const share = (part, whole) => `${bytes(part)} of ${bytes(whole)}`;

export async function open(main, {setTitle}) {
  setTitle('Status');
  const found = h('div');
  const workers = liveTable({caption: 'Workers', key: (w) => w.id, empty: 'No worker is there; one is started when something is to be compiled.', columns: [
    {title: 'Worker', cell: (w) => w.id}, {title: 'State', cell: (w) => badge(...(w.lost ? ['bad', 'lost'] : (w.jobIds ?? []).length ? ['busy', `compiles ${w.jobIds.length}`] : ['good', 'idle']))},
    {title: 'Compiles for', class: 'mono', cell: (w) => (w.targets ?? []).map((t) => t.family).join(' ')}, {title: 'Last heard', cell: (w) => ago(w.lastSeenNs)}]});

  function draw(s) {
    const c = s.counters ?? {};
    show(found, h('div', {'aria-live': 'polite'}, (s.refusals ?? []).map((r) => h('div', {class: 'problem'}, r.message))),
      tiles([['Devices idle', count(s.devicesIdle)], ['Devices busy', count(s.devicesBusy)], ['Devices lost', count(s.devicesLost)],
        ['Jobs under way', count((s.jobs ?? []).reduce((sum, j) => sum + Number(j.count), 0))], ['Jobs waiting', count((s.waiting ?? []).reduce((sum, w) => sum + Number(w.count), 0))], ['Up for', duration(s.uptimeNs)]]),
      h('div', {class: 'columns'},
        sheet('Jobs', facts([...(s.jobs ?? []).map((j) => [`${j.kind}s ${j.state.toLowerCase()}`, count(j.count)]),
          ...(s.waiting ?? []).map((w) => [`waiting for ${NEEDS[w.need] ?? w.need}`, `${count(w.count)}, the first for ${duration(w.longestNs ?? 0)}`]),
          ['Accepted', count(c.jobsAccepted)], ['At most', count(s.maxQueuedJobs)], ['Attempts lost', count(c.attemptsLost)]])),
        sheet('Compiling', facts([['Workers', `${count(s.workersPresent)} there, ${count(s.workersLost)} lost`], ['Places', `${count(s.workerPlacesTaken)} of ${count(s.workerPlaces)} taken`],
          ['From the artifact cache', `${count(c.artifactCacheHits)} of ${count(Number(c.artifactCacheHits ?? 0) + Number(c.artifactCacheMisses ?? 0))}`], ['Shared', count(c.compilationsCoalesced)], ['Kernels compiled', count(c.kernelsCompiled)], ['Kernels from the cache', count(c.kernelsCached)]])),
        sheet('Server', facts([['Version', s.version], ['Memory', share(s.memoryBytes, s.memoryLimitBytes)], ['Connections', `${count(s.connections)} of ${count(s.maxConnections)}`], ['Descriptors', `${count(s.descriptors)} of ${count(s.maxDescriptors)}`],
          ['Blobs', share(s.blobBytes, s.blobQuotaBytes)], ['Disk free', bytes(s.diskFreeBytes)], ['Calls waiting', count(s.waitingCalls)], ['Log shows', s.logLevel]]))));
  }
  async function load() {
    try {
      draw(await get('/status'));
      workers.update((await get('/workers')).workers ?? []);
    } catch (error) {
      show(found, problem(error));
    }
  }
  show(main, h('div', {class: 'head'}, h('h1', {}, 'Status')), found, h('section', {class: 'sheet flush'}, h('h2', {}, 'Workers'), workers.element));
  await load();
  return followLists(['status'], {ready: load, status: ({changed}) => changed.forEach(draw)});
}
