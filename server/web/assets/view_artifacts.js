// Artifacts and what they take: those that compilations of the jobs that are kept have made.
import {shareBar} from './chart.js';
import {get} from './api.js';
import {h, liveTable, problem, show} from './dom.js';
import {bytes, date, subjectOf} from './format.js';
import {artifactPath} from './view_job.js';

const PAGE = 100;

export async function open(main, {session, setTitle}) {
  setTitle('Artifacts');
  const found = new Map();
  let next = '';
  const trouble = h('div');
  const foot = h('div', {class: 'more'});
  const sizeOf = (a) => Number(a.result.artifactBytes ?? 0);
  let largest = 1;
  const part = (title, field) => ({title, number: true, cell: (a) => bytes(a.result.report?.[field]), sort: (a) => Number(a.result.report?.[field] ?? 0)});
  const table = liveTable({caption: 'Artifacts', key: (a) => a.key, empty: 'No compilation has succeeded yet.', columns: [
    {title: 'Model', class: 'clip', cell: (a) => h('a', {href: artifactPath(a.result.manifest)}, subjectOf(a.job)), sort: (a) => subjectOf(a.job)},
    {title: 'Target', class: 'mono', cell: (a) => a.job.compilation?.target?.name ?? '', sort: (a) => a.job.compilation?.target?.name ?? ''},
    {title: 'Size', number: true, cell: (a) => [bytes(sizeOf(a)), shareBar(sizeOf(a) / largest)], sort: sizeOf},
    part('Code', 'codeBytes'), part('Constants', 'constantBytes'), part('Working memory', 'arenaBytes'),
    {title: 'Kernels', number: true, cell: (a) => String(a.result.report?.kernels ?? '–'), sort: (a) => Number(a.result.report?.kernels ?? 0)},
    {title: 'Compiled', cell: (a) => h('a', {href: `/jobs/${a.job.id}`}, date(a.job.endTimeNs)), sort: (a) => Number(a.job.endTimeNs)}]});

  async function load() {
    try {
      const list = await get('/jobs', {kinds: 'COMPILATION', states: 'SUCCEEDED', ofEverybody: session.administrator, pageSize: PAGE, pageToken: next, fields:
        ['id', 'subject', 'endTimeNs', 'compilation.target', 'compilation.model.displayName', 'compilationResult.manifest', 'compilationResult.artifactBytes',
          'compilationResult.report.codeBytes', 'compilationResult.report.constantBytes', 'compilationResult.report.arenaBytes', 'compilationResult.report.kernels']
          .map((field) => `jobs.${field}`).concat('nextPageToken').join(',')});
      for (const job of list.jobs ?? []) {
        const result = job.compilationResult;
        if (result && !found.has(result.manifest.sha256)) found.set(result.manifest.sha256, {key: result.manifest.sha256, job, result});
      }
      next = list.nextPageToken ?? '';
      largest = Math.max(1, ...[...found.values()].map(sizeOf));
    } catch (error) {
      show(trouble, problem(error));
    }
    table.update([...found.values()]);
    show(foot, h('span', {}, `${found.size} artifacts`), next ? h('button', {type: 'button', click: load}, 'Older ones') : null);
  }
  show(main, h('div', {class: 'head'}, h('h1', {}, 'Artifacts'), h('div', {class: 'under'}, 'What compilations that the server still knows have made, each once. What two share, weights above all, lies on the server once.')),
    trouble, h('section', {class: 'sheet flush'}, table.element, foot));
  await load();
}
