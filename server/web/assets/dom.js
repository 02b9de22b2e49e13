// Elements from values. Text goes in as text: nothing here, or elsewhere on the page, reads markup.

const SVG = 'http://www.w3.org/2000/svg';

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// h('a', {href: '/jobs', click: f}, 'Jobs'): functions are listeners.
export function h(tag, attributes, ...children) {
  return build(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
  return build(document.createElementNS(SVG, tag), attributes, children);
}

export function show(parent, ...children) {
  parent.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return parent;
}

export function badge(kind, text) {
  return h('span', {class: `badge ${kind}`}, text);
}

export function facts(rows) {
  return h('dl', {class: 'facts'}, rows.filter((row) => row && row[1] !== null && row[1] !== undefined && row[1] !== '' && row[1].length !== 0)
    .map(([name, ...value]) => [h('dt', {}, name), h('dd', {}, ...value)]));
}

export function tiles(rows) {
  return h('div', {class: 'tiles'}, rows.filter(Boolean).map(([name, value, note]) =>
    h('dl', {class: 'tile'}, h('dt', {}, name), h('dd', {}, value), note ? h('dd', {class: 'note'}, note) : null)));
}

export function sheet(title, ...children) {
  return h('section', {class: 'sheet'}, title ? h('h2', {}, title) : null, ...children);
}

export function problem(error) {
  return h('div', {class: 'problem', role: 'alert'}, error.message ?? String(error));
}

// Says something to who cannot see it happen.
export function announce(text) {
  document.getElementById('announce').textContent = text;
}

// A table whose rows follow a list. Columns: {title, cell(item), number, sort(item)}; `key` tells items apart. update(items) makes anew only
// rows whose items say something else than before, so that what has the focus keeps it.
export function liveTable({caption, columns, key, empty = 'Nothing here.', sorted = null}) {
  const body = h('tbody');
  const nothing = h('p', {class: 'empty'}, empty);
  let rows = new Map();
  let items = [];
  let order = sorted;  // {column, down}
  const heads = columns.map((column, index) => h('th', {scope: 'col', class: column.number ? 'number' : null},
    column.sort ? h('button', {type: 'button', click: () => sortBy(index)}, column.title) :
      column.unseen ? h('span', {class: 'unseen'}, column.title) : column.title));
  const table = h('div', {class: 'scroll'}, h('table', {}, h('caption', {class: 'unseen'}, caption),
    h('thead', {}, h('tr', {}, heads)), body));

  function sortBy(index) {
    order = {column: index, down: order?.column === index ? !order.down : true};
    update(items);
  }

  function inOrder() {
    if (!order) return items;
    const value = columns[order.column].sort;
    const sign = order.down ? -1 : 1;
    return [...items].sort((a, b) => (value(a) < value(b) ? -sign : value(a) > value(b) ? sign : 0));
  }

  function update(list) {
    items = list;
    heads.forEach((head, index) => order?.column === index ?
      head.setAttribute('aria-sort', order.down ? 'descending' : 'ascending') : head.removeAttribute('aria-sort'));
    const next = new Map();
    let at = body.firstChild;
    for (const item of inOrder()) {
      const id = key(item);
      let row = rows.get(id);
      const content = JSON.stringify(item);
      if (!row || row.content !== content) {
        const element = h('tr', {}, columns.map((column) =>
          h('td', {class: [column.number ? 'number' : '', column.class ?? ''].join(' ').trim() || null}, column.cell(item))));
        if (row) {
          if (at === row.element) at = element;
          row.element.replaceWith(element);
        }
        row = {content, element};
      }
      next.set(id, row);
      if (at === row.element) at = at.nextSibling;
      else body.insertBefore(row.element, at);
    }
    for (const [id, row] of rows) if (!next.has(id)) row.element.remove();
    rows = next;
    nothing.hidden = next.size > 0;
  }
  update([]);
  return {element: h('div', {}, table, nothing), update};
}

// Calls f once before the next picture is drawn, however often it is asked to.
export function oncePerFrame(f) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      f();
    });
  };
}

// Asks before something that cannot be undone.
export function confirmed(text, action) {
  return new Promise((resolve) => {
    const dialog = h('dialog', {close: () => { dialog.remove(); resolve(dialog.returnValue === 'yes'); }},
      h('p', {}, text),
      h('form', {method: 'dialog', class: 'row'}, h('button', {value: 'yes', class: 'bad'}, action), h('button', {value: 'no', autofocus: true}, 'Back')));
    document.body.append(dialog);
    dialog.showModal();
  });
}
