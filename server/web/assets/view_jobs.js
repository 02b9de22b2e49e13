// Jobs, newest first, by what people look for. The first page is live; benchmarks can be ticked and compared.
import {followLists, get} from './api.js';
import {badge, h, liveTable, oncePerFrame, problem, show} from './dom.js';
import {date, duration, jobState, kindOf, subjectOf} from './format.js';

const PAGE = 50;
const FIELDS = ['id', 'owner', 'revision', 'state', 'subject', 'assignee', 'progress', 'createTimeNs', 'startTimeNs', 'endTimeNs', 'tags', 'error.message',
  'compilation.target', 'compilation.model.displayName', 'run.device', 'benchmark.run.device', 'session.purpose', 'session.device']
  .map((field) => `jobs.${field}`).concat('nextPageToken').join(',');
const STATES = ['QUEUED', 'ASSIGNED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED'];
const KINDS = ['COMPILATION', 'RUN', 'BENCHMARK', 'SESSION'];

function options(values, chosen, all) {
  return [h('option', {value: ''}, all), values.map((value) => h('option', {value, selected: value === chosen}, value.toLowerCase()))];
}

export async function open(main, {session, values, setTitle, go}) {
  setTitle('Jobs');
  const filter = {states: values.get('states') ?? '', kinds: values.get('kinds') ?? '', subject: values.get('subject') ?? '', device: values.get('device') ?? '',
    ofEverybody: session.administrator && values.get('everybody') !== 'no'};
  let tokens = [''];
  let next = '';
  let known = new Map();
  const ticked = new Set();
  const trouble = h('div');
  const foot = h('div', {class: 'more'});
  const compare = h('a', {class: 'button', href: '/compare', hidden: true}, 'Compare');
  const drawCompare = () => {
    compare.hidden = ticked.size < 2;
    compare.textContent = `Compare ${ticked.size} results`;
    compare.href = `/compare?ids=${[...ticked].join(',')}`;
  };
  const tick = (job) => h('input', {type: 'checkbox', checked: ticked.has(job.id), 'aria-label': `compare ${subjectOf(job)}, ${job.id}`, change: (event) => {
    event.target.checked ? ticked.add(job.id) : ticked.delete(job.id);
    drawCompare();
  }});
  const table = liveTable({caption: 'Jobs', key: (job) => job.id, empty: 'No job matches.', columns: [
    {title: 'Compare', unseen: true, cell: (job) => (job.benchmark && job.state === 'SUCCEEDED' ? tick(job) : '')},
    {title: 'Subject', class: 'clip', cell: (job) => [h('a', {href: `/jobs/${job.id}`}, subjectOf(job)), h('div', {class: 'mono quiet small'}, job.id)]},
    {title: 'State', cell: (job) => [badge(...jobState(job.state)), job.progress?.stage ? h('div', {class: 'quiet small'}, job.progress.stage) : null,
      job.error?.message ? h('div', {class: 'quiet small clip', title: job.error.message}, job.error.message) : null]},
    {title: 'What', cell: kindOf},
    {title: 'On', cell: (job) => job.assignee || job.benchmark?.run?.device || job.run?.device || job.session?.device || ''},
    {title: 'Owner', cell: (job) => job.owner ?? ''},
    {title: 'Tags', cell: (job) => (job.tags ?? []).map((tag) => h('span', {class: 'tag'}, `${tag.key}=${tag.value}`))},
    {title: 'Accepted', class: 'number', cell: (job) => date(job.createTimeNs)},
    {title: 'Took', number: true, cell: (job) => (Number(job.startTimeNs) && Number(job.endTimeNs) ? duration(job.endTimeNs - job.startTimeNs) : '')}]});

  const draw = oncePerFrame(() => {
    table.update([...known.values()].sort((a, b) => (a.id < b.id ? 1 : -1)));
    show(foot, h('span', {}, `Page ${tokens.length}`),
      tokens.length > 1 ? h('button', {type: 'button', click: () => { tokens.pop(); load(); }}, 'Newer') : null,
      next ? h('button', {type: 'button', click: () => { tokens.push(next); load(); }}, 'Older') : null);
  });

  async function load() {
    try {
      const list = await get('/jobs', {...filter, pageSize: PAGE, pageToken: tokens.at(-1), fields: FIELDS});
      known = new Map((list.jobs ?? []).map((job) => [job.id, job]));
      next = list.nextPageToken ?? '';
      show(trouble);
    } catch (error) {
      show(trouble, problem(error));
    }
    draw();
  }

  const change = () => {
    const form = new FormData(document.getElementById('filter'));
    Object.assign(filter, {states: form.get('states'), kinds: form.get('kinds'), subject: form.get('subject').trim(), device: form.get('device').trim(),
      ofEverybody: form.get('everybody') === 'on'});
    const address = new URLSearchParams(Object.entries({states: filter.states, kinds: filter.kinds, subject: filter.subject, device: filter.device,
      everybody: session.administrator && !filter.ofEverybody ? 'no' : ''}).filter(([, value]) => value));
    go(`/jobs${address.toString() ? `?${address}` : ''}`, {replace: true});
    tokens = [''];
    subscribe();
    load();
  };
  show(main, h('div', {class: 'head'}, h('h1', {}, 'Jobs'), h('div', {class: 'end'}, compare, h('a', {class: 'button', href: '/submit'}, 'Submit a model'))),
    h('form', {class: 'row', id: 'filter', role: 'search', change, submit: (event) => { event.preventDefault(); change(); }},
      h('label', {class: 'grow'}, 'Subject has', h('input', {type: 'search', name: 'subject', value: filter.subject})),
      h('label', {}, 'State', h('select', {name: 'states'}, options(STATES, filter.states, 'any'))),
      h('label', {}, 'What', h('select', {name: 'kinds'}, options(KINDS, filter.kinds, 'anything'))),
      h('label', {}, 'Device', h('input', {name: 'device', value: filter.device})),
      session.administrator ? h('label', {class: 'line'}, h('input', {type: 'checkbox', name: 'everybody', checked: filter.ofEverybody}), 'everybody\'s') : null),
    trouble, h('section', {class: 'sheet flush'}, table.element, foot));
  await load();
  const isPlain = () => tokens.length === 1 && !filter.states && !filter.kinds && !filter.subject && !filter.device;
  const changes = ({changed}) => {
    for (const job of changed) if (known.has(job.id) || isPlain()) known.set(job.id, job);
    while (known.size > PAGE) known.delete([...known.keys()].sort()[0]);
    draw();
  };
  let stop = null;
  function subscribe() {
    stop?.();
    stop = followLists([filter.ofEverybody ? 'everybodys-jobs' : 'jobs'], {ready: load, jobs: changes, 'everybodys-jobs': changes});
  }
  subscribe();
  return () => stop();
}
