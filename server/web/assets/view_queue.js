// What waits, in the order in which it probably begins, and why. Live. Below it, who has devices for himself.
import {followLists, get, remove} from './api.js';
import {confirmed, h, liveTable, problem, show} from './dom.js';
import {date, reason} from './format.js';

export async function open(main, {setTitle}) {
  setTitle('Queue');
  const trouble = h('div');
  const waiting = h('p', {class: 'quiet', 'aria-live': 'polite'});
  const table = liveTable({caption: 'Jobs that wait', key: (job) => job.jobId || `${job.owner} ${job.sinceNs} ${job.queuePosition}`, empty: 'Nothing waits.', columns: [
    {title: 'Place', number: true, cell: (job) => job.queuePosition ?? '–'},
    {title: 'Job', class: 'mono', cell: (job) => (job.jobId ? h('a', {href: `/jobs/${job.jobId}`}, job.jobId) : h('span', {class: 'quiet'}, 'of somebody else'))},
    {title: 'What', cell: (job) => String(job.kind ?? '').toLowerCase()},
    {title: 'Subject', class: 'clip', cell: (job) => job.subject ?? ''},
    {title: 'Owner', cell: (job) => job.owner ?? ''},
    {title: 'For', cell: (job) => job.device || h('span', {class: 'mono quiet'}, job.target || 'any device')},
    {title: 'Waits since', cell: (job) => date(job.sinceNs)},
    {title: 'Why', cell: (job) => reason(job.reason)}]});
  const reserved = liveTable({caption: 'Reservations', key: (r) => `${r.device} ${r.fromNs}`, empty: 'Nobody has reserved a device.', columns: [
    {title: 'Device', cell: (r) => h('a', {href: `/devices/${encodeURIComponent(r.device)}`}, r.device)},
    {title: 'Owner', cell: (r) => r.owner}, {title: 'From', cell: (r) => date(r.fromNs)}, {title: 'Until', cell: (r) => date(r.untilNs)},
    {title: 'Purpose', cell: (r) => r.purpose ?? ''},
    {title: 'End it', unseen: true, cell: (r) => (r.id ? h('button', {class: 'plain', type: 'button', click: () => end(r)}, 'End') : '')}]});

  async function end(reservation) {
    if (!(await confirmed(`End the reservation of ${reservation.device}?`, 'End it'))) return;
    await remove(`/reservations/${reservation.id}`).catch((error) => show(trouble, problem(error)));
    loadReservations();
  }
  const loadReservations = async () => reserved.update((await get('/reservations')).reservations ?? []);
  const draw = (list) => {
    table.update(list.jobs ?? []);
    waiting.textContent = Number(list.waiting ?? 0) > (list.jobs ?? []).length ? `The first ${list.jobs.length} of ${list.waiting} jobs that wait.` : `${list.waiting ?? 0} wait.`;
  };
  async function load() {
    try {
      const [queue] = await Promise.all([get('/queue'), loadReservations()]);
      draw(queue);
      show(trouble);
    } catch (error) {
      show(trouble, problem(error));
    }
  }
  show(main, h('div', {class: 'head'}, h('h1', {}, 'Queue')), trouble, waiting, h('section', {class: 'sheet flush'}, table.element),
    h('section', {class: 'sheet flush'}, h('h2', {}, 'Reservations'), reserved.element));
  await load();
  return followLists(['queue'], {ready: load, queue: ({changed}) => changed.forEach(draw)});
}
