(() => {
  'use strict';
  const get = (id) => document.getElementById(id);
  const chart = get('chart'), scroll = get('scroll'), axis = get('axis'), details = get('details');
  const items = [...chart.querySelectorAll('.i')];
  const end = Number(chart.dataset.end), start = Number(chart.dataset.start);
  const calm = matchMedia('(prefers-reduced-motion: reduce)');
  const svgns = 'http://www.w3.org/2000/svg';
  let zoom = 1, at = -1;

  // One stop for the Tab key: arrows move among the items.
  chart.setAttribute('role', 'listbox');
  items.forEach((item, i) => {
    item.setAttribute('role', 'option');
    item.setAttribute('aria-selected', 'false');
    item.setAttribute('tabindex', i === 0 ? '0' : '-1');
  });
  get('tools').hidden = false;

  const rowOf = (item) => get('r' + item.dataset.i);
  const timeOf = (item) => {
    const shape = item.querySelector('line, rect, use');
    return parseFloat(shape.getAttribute('x1') || shape.getAttribute('x'));
  };

  function show(i) {
    if (at >= 0) {
      items[at].classList.remove('at');
      items[at].setAttribute('aria-selected', 'false');
      items[at].setAttribute('tabindex', '-1');
      rowOf(items[at]).classList.remove('at');
    } else if (items.length > 0) {
      items[0].setAttribute('tabindex', '-1');
    }
    at = i;
    const item = items[i], row = rowOf(item), cells = row.cells;
    item.classList.add('at');
    item.setAttribute('aria-selected', 'true');
    item.setAttribute('tabindex', '0');
    row.classList.add('at');
    details.replaceChildren();
    const head = document.createElement('b');
    head.textContent = cells[0].textContent + '  ' + cells[1].textContent;
    details.append(head, ' ', ...[...cells[2].childNodes].map((n) => n.cloneNode(true)));
    details.classList.toggle('bad', item.classList.contains('bad'));
    details.hidden = false;
  }

  // see scrolls to an item, if it is out of sight.
  function see(i, behavior) {
    const x = timeOf(items[i]) / 100 * chart.clientWidth, left = scroll.scrollLeft, wide = scroll.clientWidth;
    if (x < left + 20 || x > left + wide - 20) {
      scroll.scrollTo({ left: x - wide / 2, behavior });
    }
  }

  // go moves the focus, and what is seen with it.
  function go(i) {
    if (i < 0 || i >= items.length) return;
    show(i);
    items[i].focus({ preventScroll: true });
    see(i, calm.matches ? 'auto' : 'smooth');
    // The details stay at the window's lower end, and may hide what they are of.
    const box = items[i].getBoundingClientRect(), floor = details.getBoundingClientRect().top;
    if (box.bottom > floor) scrollBy(0, box.bottom - floor + 8);
    else if (box.top < 0) scrollBy(0, box.top - 8);
  }

  function nextRed(step) {
    for (let i = at + step; i >= 0 && i < items.length; i += step) {
      if (items[i].classList.contains('bad')) return go(i);
    }
  }

  // beside finds the item of another lane that is nearest in time.
  function beside(step) {
    if (at < 0) return go(0);
    const lane = Number(items[at].dataset.l), time = timeOf(items[at]);
    const lanes = [...new Set(items.map((item) => Number(item.dataset.l)))].filter((l) => (l - lane) * step > 0);
    if (lanes.length === 0) return;
    const next = step > 0 ? Math.min(...lanes) : Math.max(...lanes);
    let best = -1;
    items.forEach((item, i) => {
      if (Number(item.dataset.l) !== next) return;
      if (best < 0 || Math.abs(timeOf(item) - time) < Math.abs(timeOf(items[best]) - time)) best = i;
    });
    go(best);
  }

  const keys = {
    ArrowRight: () => go(Math.min(at + 1, items.length - 1)),
    ArrowLeft: () => go(Math.max(at - 1, 0)),
    ArrowUp: () => beside(-1),
    ArrowDown: () => beside(1),
    Home: () => go(0),
    End: () => go(items.length - 1),
    PageDown: () => nextRed(1),
    PageUp: () => nextRed(-1),
    '+': () => zoomTo(zoom * 2),
    '=': () => zoomTo(zoom * 2),
    '-': () => zoomTo(zoom / 2),
    0: () => zoomTo(1),
  };
  chart.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return;
    e.preventDefault();
    keys[e.key]();
  });
  chart.addEventListener('focusin', (e) => {
    const i = items.indexOf(e.target.closest('.i'));
    if (i >= 0 && i !== at) show(i);
  });

  // near finds the item at a point, or a little beside it: lines are thin.
  function near(x, y) {
    for (let d = 0; d <= 6; d++) {
      for (const [dx, dy] of [[d, 0], [-d, 0], [0, d], [0, -d]]) {
        const under = document.elementFromPoint(x + dx, y + dy);
        const item = under && under.closest('.i');
        if (item) return items.indexOf(item);
      }
    }
    return -1;
  }
  let drag = null;
  chart.addEventListener('pointermove', (e) => {
    if (drag) {
      scroll.scrollLeft = drag.left - (e.clientX - drag.x);
      return;
    }
    const i = near(e.clientX, e.clientY);
    if (i >= 0 && i !== at) show(i);
  });
  chart.addEventListener('pointerdown', (e) => {
    if (e.pointerType === 'mouse' && e.button === 0) drag = { x: e.clientX, left: scroll.scrollLeft };
  });
  addEventListener('pointerup', () => { drag = null; });
  addEventListener('pointercancel', () => { drag = null; });
  chart.addEventListener('click', (e) => {
    const i = near(e.clientX, e.clientY);
    if (i >= 0) go(i);
  });
  scroll.addEventListener('wheel', (e) => {
    if (!e.ctrlKey) return;
    e.preventDefault();
    zoomTo(zoom * Math.exp(-e.deltaY / 200), e.clientX - scroll.getBoundingClientRect().left);
  }, { passive: false });

  // Wider than this, browsers draw no more.
  const widest = 4e6;

  // zoomTo has the time under a point stay where it is: the point is what has the focus, or the middle.
  function zoomTo(to, point) {
    const wide = scroll.clientWidth, before = chart.clientWidth;
    if (point === undefined) {
      point = at >= 0 ? timeOf(items[at]) / 100 * before - scroll.scrollLeft : wide / 2;
      if (point < 0 || point > wide) point = wide / 2;
    }
    const part = (scroll.scrollLeft + point) / before;
    zoom = Math.min(Math.max(1, to), Math.max(1, widest / wide));
    chart.setAttribute('width', zoom * 100 + '%');
    scroll.scrollLeft = part * chart.clientWidth - point;
    get('out').disabled = get('whole').disabled = zoom === 1;
    draw();
  }
  get('in').addEventListener('click', () => zoomTo(zoom * 2));
  get('out').addEventListener('click', () => zoomTo(zoom / 2));
  get('whole').addEventListener('click', () => zoomTo(1));
  get('before').addEventListener('click', () => nextRed(-1));
  get('after').addEventListener('click', () => nextRed(1));
  get('before').disabled = get('after').disabled = !items.some((item) => item.classList.contains('bad'));

  const ms = 1e6, s = 1e9, min = 60 * s, hour = 60 * min;
  const steps = [0.001, 0.01, 0.1, 1, 2, 5, 10, 20, 50, 100, 200, 500].map((n) => n * ms)
    .concat([1, 2, 5, 10, 15, 30].map((n) => n * s), [1, 2, 5, 10, 15, 30].map((n) => n * min), [1, 2, 6, 12, 24, 48, 120].map((n) => n * hour));

  function since(t) {
    if (t === 0) return '0s';
    if (t < s) return +(t / ms).toFixed(3) + 'ms';
    if (t < min) return +(t / s).toFixed(6) + 's';
    const h = Math.floor(t / hour), m = Math.floor(t % hour / min), rest = +(t % min / s).toFixed(6);
    return (h ? h + 'h' : '') + (m ? m + 'm' : '') + (rest ? rest + 's' : '');
  }

  // draw draws the part of the axis that is seen, and the labels that fit their bars.
  function draw() {
    const wide = chart.clientWidth, x = (t) => (0.02 + 0.96 * t / end) * wide;
    const t = (px) => (px / wide - 0.02) / 0.96 * end;
    const step = steps.find((n) => x(n) - x(0) >= 92) || steps[steps.length - 1];
    const from = Math.max(0, Math.floor(t(scroll.scrollLeft - 100) / step)), to = Math.min(end, t(scroll.scrollLeft + scroll.clientWidth + 100));
    const made = [];
    const make = (name, attributes, text) => {
      const e = document.createElementNS(svgns, name);
      for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
      if (text) e.textContent = text;
      made.push(e);
    };
    for (let n = from; n * step <= to && made.length < 300; n++) {
      const at = (2 + 96 * n * step / end) + '%';
      const wall = new Date(start + n * step / ms).toISOString();
      make('line', { x1: at, x2: at, y1: 34, y2: chart.clientHeight });
      const anchor = n * step < 0.02 * end / zoom ? 'start' : n * step > end - 0.03 * end / zoom ? 'end' : 'middle';
      make('text', { x: at, y: 14, 'text-anchor': anchor }, since(n * step));
      make('text', { x: at, y: 29, class: 'wall', 'text-anchor': anchor }, wall.slice(11, step < s ? 23 : 19));
    }
    axis.replaceChildren(...made);
    for (const text of chart.querySelectorAll('.i rect + text')) {
      const room = text.previousElementSibling.width.baseVal.value;
      text.classList.toggle('narrow', room < text.textContent.length * 7 + 2);
    }
  }
  let planned = false;
  const later = () => {
    if (planned) return;
    planned = true;
    requestAnimationFrame(() => { planned = false; draw(); });
  };
  scroll.addEventListener('scroll', later, { passive: true });
  addEventListener('resize', later);
  get('out').disabled = get('whole').disabled = true;
  draw();
  const main = items.findIndex((item) => item.dataset.i === chart.dataset.main);
  if (main >= 0) {
    show(main);
    see(main, 'auto');
  }
})();
