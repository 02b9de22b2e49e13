// /api/v1, and whether it can be reached.

export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const listeners = new Set();
// Told {signedOut: true} when the session has ended, and {away: text or ''} when the server or the page's own process goes and comes.
export function onConnection(listener) {
  listeners.add(listener);
}
function tell(news) {
  for (const listener of listeners) listener(news);
}

async function call(method, path, body, signal) {
  let response;
  try {
    response = await fetch(path, {
      method, signal,
      headers: body === undefined ? {} : {'Content-Type': 'application/json'},
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new ApiError(0, 'UNAVAILABLE', 'The page\'s server cannot be reached. It is tried again when you ask again.');
  }
  return answerOf(response.status, await response.text(), path);
}

function answerOf(status, text, path) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ApiError(status, 'INTERNAL', `The server answered ${status} with something that is no JSON.`);
  }
  if (status === 200) return value;
  if (status === 401 && path !== '/api/v1/session') tell({signedOut: true});
  throw new ApiError(status, value.code, value.message);
}

export function query(values) {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== '' && one !== null && one !== undefined && one !== false) pairs.append(name, one);
    }
  }
  const text = pairs.toString();
  return text ? `?${text}` : '';
}

export const get = (path, values = {}, signal) => call('GET', `/api/v1${path}${query(values)}`, undefined, signal);
export const post = (path, body = {}) => call('POST', `/api/v1${path}`, body);
export const remove = (path) => call('DELETE', `/api/v1${path}`);

// Sends a file as it is; `progressed` gets the share of it that is sent.
export function upload(file, progressed, signal) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', `/api/v1/models${query({name: file.name})}`);
    request.setRequestHeader('Content-Type', 'application/octet-stream');
    request.upload.onprogress = (event) => progressed(event.total ? event.loaded / event.total : 0);
    request.onload = () => {
      try {
        resolve(answerOf(request.status, request.responseText, '/api/v1/models'));
      } catch (error) {
        reject(error);
      }
    };
    request.onerror = () => reject(new ApiError(0, 'UNAVAILABLE', 'The upload broke off: the connection ended, or the file is larger than may be sent.'));
    request.onabort = () => reject(new ApiError(0, 'CANCELLED', 'The upload was stopped.'));
    signal?.addEventListener('abort', () => request.abort());
    request.send(file);
  });
}

// Follows server-sent events: `handlers` by the events' names. Comes again by itself when the connection broke, and rests while the page is
// hidden. Returns what ends it.
function follow(path, handlers, isOver = () => false) {
  let source = null;
  let closed = false;
  let again = null;
  const close = () => {
    source?.close();
    source = null;
    clearTimeout(again);
  };
  const open = () => {
    if (closed || source || document.hidden || isOver()) return;
    source = new EventSource(path());
    source.onopen = () => tell({away: ''});
    for (const [name, handler] of Object.entries(handlers)) {
      source.addEventListener(name, (event) => handler(JSON.parse(event.data)));
    }
    source.addEventListener('away', () => tell({away: 'The compile server is away. This page goes on when it is back.'}));
    source.addEventListener('here', () => tell({away: ''}));
    source.onerror = async () => {
      if (closed || isOver()) return close();
      if (source?.readyState !== EventSource.CLOSED) return tell({away: 'The connection is lost. Trying again …'});
      // Refused: signed out, perhaps.
      close();
      try {
        if (!(await get('/session')).signedIn) return tell({signedOut: true});
      } catch {
        tell({away: 'The connection is lost. Trying again …'});
      }
      again = setTimeout(open, 2000);
    };
  };
  const look = () => (document.hidden ? close() : open());
  document.addEventListener('visibilitychange', look);
  open();
  return () => {
    closed = true;
    document.removeEventListener('visibilitychange', look);
    close();
  };
}

// Lists: handlers.ready asks for what there is, others get {changed, gone}.
export function followLists(topics, handlers) {
  return follow(() => `/api/v1/events?topics=${topics.join(',')}`, handlers);
}

// A job until it has ended.
export function followJob(id, changed, failed) {
  let revision = 0;
  let over = false;
  const stop = follow(() => `/api/v1/jobs/${encodeURIComponent(id)}/events${query({after: revision || ''})}`, {
    job: (job) => {
      revision = job.revision;
      changed(job);
    },
    end: () => { over = true; stop(); },
    problem: (error) => { over = true; stop(); failed?.(error); },
  }, () => over);
  return stop;
}
