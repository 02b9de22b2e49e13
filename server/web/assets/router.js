// Which views there are, in the order of the navigation. Those without a title are reached from others. Their first parts stand in
// page.cc as well.
export const VIEWS = [
  {path: '/devices', title: 'Devices', load: () => import('./view_devices.js')},
  {path: '/devices/*', load: () => import('./view_device.js')},
  {path: '/queue', title: 'Queue', load: () => import('./view_queue.js')},
  {path: '/jobs', title: 'Jobs', load: () => import('./view_jobs.js')},
  {path: '/jobs/*', load: () => import('./view_job.js')},
  {path: '/compare', load: () => import('./view_compare.js')},
  {path: '/history', title: 'History', load: () => import('./view_history.js')},
  {path: '/artifacts', title: 'Artifacts', load: () => import('./view_artifacts.js')},
  {path: '/artifacts/*/*', load: () => import('./view_artifact.js')},
  {path: '/submit', title: 'Submit', load: () => import('./view_submit.js')},
  {path: '/status', title: 'Status', load: () => import('./view_status.js')},
  {path: '/access', title: 'Access', administrators: true, load: () => import('./view_access.js')},
];

// The view of a path, and what stands in place of its stars.
export function routeOf(path) {
  const given = path.replace(/\/+$/, '').split('/');
  for (const view of VIEWS) {
    const wanted = view.path.split('/');
    if (wanted.length !== given.length) continue;
    if (wanted.every((part, i) => part === '*' ? given[i] !== '' : part === given[i])) {
      try {
        return {view, parts: given.filter((_, i) => wanted[i] === '*').map(decodeURIComponent)};
      } catch {
        return {view: null, parts: []};
      }
    }
  }
  return {view: null, parts: []};
}
