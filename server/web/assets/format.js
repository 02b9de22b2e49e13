// Numbers, times and names as people read them.

const digits = (value) => (value >= 99.95 ? value.toFixed(0) : value >= 9.995 ? value.toFixed(1) : value.toFixed(2));

// Nanoseconds.
export function duration(ns) {
  const value = Number(ns);
  if (!Number.isFinite(value)) return '–';
  if (value < 0) return `−${duration(-value)}`;
  for (const [unit, size] of [['ns', 1], ['µs', 1e3], ['ms', 1e6], ['s', 1e9]]) {
    if (value < size * 999.5 || unit === 's') {
      if (unit === 's' && value >= 120e9) break;
      return `${unit === 'ns' ? value.toFixed(0) : digits(value / size)} ${unit}`;
    }
  }
  const seconds = Math.round(value / 1e9);
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} min`;
  return `${Math.floor(seconds / 86400)} d ${Math.floor(seconds / 3600) % 24} h`;
}

// How many of the times, nanoseconds, are too short for a clock that tells so much apart, as the command says it (client/cli/render_conditions.h); null where
// none is, or nobody knows.
export function clockRemark(times, resolution, what) {
  const LEAST_RESOLUTIONS = 20;
  const coarse = times.filter((ns) => ns < LEAST_RESOLUTIONS * resolution).length;
  return coarse ? `Coarse: ${coarse} of ${times.length} ${what} shorter than ${LEAST_RESOLUTIONS} times the ${duration(resolution)} that the device's clock tells apart.` : null;
}

export function bytes(count) {
  let value = Number(count ?? 0);
  for (const unit of ['B', 'KiB', 'MiB', 'GiB']) {
    if (value < 1023.5) return `${unit === 'B' ? value : digits(value)} ${unit}`;
    value /= 1024;
  }
  return `${digits(value)} TiB`;
}

export function count(number) {
  return Number(number ?? 0).toLocaleString('en');
}

// 231 M.
export function short(number) {
  let value = Number(number ?? 0);
  for (const unit of ['', ' k', ' M', ' G', ' T']) {
    if (value < 999.5) return unit === '' ? String(Math.round(value)) : digits(value) + unit;
    value /= 1000;
  }
  return `${value.toFixed(0)} P`;
}

export const precisionOf = (name) => ({PRECISION_BF16: 'bf16', PRECISION_F16: 'f16', PRECISION_TF32: 'tf32'})[name] ?? 'f32';

export const percent = (share) => (Number.isFinite(share) ? `${(100 * share).toFixed(1)} %` : '–');

// Of what a device's agent last read of its machine.
export const temperatureOf = (machine) => (machine?.temperatureMillicelsius ? `${(machine.temperatureMillicelsius / 1000).toFixed(1)} °C` : '–');
export const loadOf = (machine) => (machine ? (Number(machine.loadMillis ?? 0) / 1000).toFixed(2) : '–');

// Nanoseconds since 1970.
export function date(ns) {
  if (!Number(ns)) return '–';
  const d = new Date(Number(ns) / 1e6);
  const two = (n) => String(n).padStart(2, '0');
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

export function ago(ns) {
  if (!Number(ns)) return '–';
  const seconds = (Date.now() - Number(ns) / 1e6) / 1000;
  if (seconds < 5) return 'now';
  const text = Math.abs(seconds) < 120 ? `${Math.round(Math.abs(seconds))} s` : duration(Math.abs(seconds) * 1e9);
  return seconds < 0 ? `in ${text}` : `${text} ago`;
}

const KINDS = ['compilation', 'run', 'benchmark', 'session'];
export const kindOf = (job) => KINDS.find((kind) => job[kind]) ?? 'job';

const JOB_STATES = {
  QUEUED: ['warn', 'waits'], ASSIGNED: ['busy', 'assigned'], RUNNING: ['busy', 'running'],
  SUCCEEDED: ['good', 'succeeded'], FAILED: ['bad', 'failed'], CANCELLED: ['rest', 'cancelled'],
};
export const jobState = (state) => JOB_STATES[state] ?? ['rest', String(state ?? 'unknown').toLowerCase()];
export const hasEnded = (job) => ['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(job.state);

// What a device does, and whether it is given work, in one word.
export function deviceState(device) {
  if (device.state === 'LOST') return ['bad', 'lost'];
  const given = device.availability?.state;
  if (given === 'QUARANTINED') return ['bad', 'quarantine'];
  if (given === 'DRAINED' || given === 'DRAINING') return ['warn', given.toLowerCase()];
  if (device.state === 'BUSY') return ['busy', 'busy'];
  if (given === 'RESERVED') return ['warn', 'reserved'];
  return ['good', 'idle'];
}

export const subjectOf = (job) => job.subject || job.compilation?.model?.displayName || job.session?.purpose || '(no name)';

const REASONS = {
  NEXT: () => 'next in line',
  PAUSES: () => 'an attempt was lost: it is tried again in a moment',
  HELD: (r) => `${r.device} is held by ${r.lease?.owner ?? 'somebody'}`,
  RESERVED: (r) => `${r.device} is reserved by ${r.reservation?.owner ?? 'somebody'}`,
  TOO_LONG: (r) => `${r.device} is free, but reserved soon`,
  QUARANTINED: (r) => `${r.device} is in quarantine`,
  DRAINED: (r) => `${r.device} is drained`,
  LOST: (r) => `${r.device} is lost`,
  NO_DEVICE: () => 'no device could run it',
  WORKERS_BUSY: () => 'all workers are at work',
  NO_WORKER: () => 'no worker could compile it',
};
export function reason(why) {
  if (!why) return '';
  const text = REASONS[why.kind]?.(why) ?? String(why.kind ?? '').toLowerCase();
  return [text, why.detail, Number(why.untilNs) ? `until ${date(why.untilNs)} at the latest` : ''].filter(Boolean).join('; ');
}
