// Pages work without this. With it, the parts marked `data-live` are fetched again when a hint says that they changed: at
// most as often as each part wants, never while somebody types in it, and only while the page is visible.
(() => {
  'use strict'
  const parts = () => [...document.querySelectorAll('[data-live]')]
  if (!parts().length) return
  const button = document.getElementById('live')
  const POLL = 30000
  let away = false
  let stream = null, timer = 0, poll = 0, last = Date.now(), wanted = new Set(), paused = false

  const pace = () => Math.min(...parts().map((part) => Number(part.dataset.pace || 10)), 10) * 1000

  const refresh = async () => {
    timer = 0
    last = Date.now()
    const kinds = wanted
    wanted = new Set()
    let text
    try {
      const answer = await fetch(location.href, { headers: { accept: 'text/html' } })
      reached(true)
      if (!answer.ok) return
      text = await answer.text()
    } catch { return reached(false) }
    const fresh = new DOMParser().parseFromString(text, 'text/html')
    for (const part of parts()) {
      const next = fresh.getElementById(part.id)
      const concerned = part.dataset.live.split(' ').some((kind) => kinds.has(kind))
      if (!next || !concerned || next.innerHTML === part.innerHTML || part.contains(document.activeElement)) continue
      part.replaceWith(document.importNode(next, true))
    }
    document.title = fresh.title
    document.body.dataset.seen = fresh.body.dataset.seen || ''
  }

  const hint = (kinds) => {
    kinds.forEach((kind) => wanted.add(kind))
    if (paused || timer || !parts().some((part) => part.dataset.live.split(' ').some((kind) => wanted.has(kind)))) return
    timer = setTimeout(refresh, Math.max(0, last + pace() - Date.now()))
  }

  const reached = (is) => {
    if (away === !is) return
    away = !is
    show()
  }

  const stop = () => {
    stream?.close()
    stream = null
    clearInterval(poll)
    clearTimeout(timer)
    poll = timer = 0
  }

  const start = () => {
    stop()
    if (paused || document.hidden) return
    stream = new EventSource('/events?seen=' + encodeURIComponent(document.body.dataset.seen || ''))
    stream.onopen = () => reached(true)
    stream.addEventListener('hint', (event) => hint(event.data.split(' ')))
    // If there is no room for another stream, asking now and then works too.
    stream.onerror = () => {
      // The browser tries again by itself unless it was refused; until then nothing here is live.
      if (stream?.readyState === EventSource.CONNECTING) reached(false)
      if (stream?.readyState !== EventSource.CLOSED || poll) return
      poll = setInterval(() => hint(['board', 'acts', 'work']), POLL)
    }
  }

  const show = () => {
    if (!button) return
    button.hidden = false
    button.setAttribute('aria-pressed', String(!paused))
    button.classList.toggle('away', away && !paused)
    button.textContent = paused ? 'Paused' : away ? 'No connection' : 'Live'
    button.title = away && !paused ? 'The server does not answer: this page shows what it last said' : 'Whether this page updates itself'
  }

  button?.addEventListener('click', () => {
    paused = !paused
    show()
    start()
    if (!paused) hint(['board', 'acts', 'work'])
  })
  document.addEventListener('visibilitychange', () => {
    start()
    if (!document.hidden) hint(['board', 'acts', 'work'])
  })
  addEventListener('pagehide', stop)
  show()
  start()
})()
