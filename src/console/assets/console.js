// Everything reads and works without this file; it saves people a reload.

/** Appends what a running job has written since. */
function followLog(log) {
  const again = async () => {
    const answer = await fetch(location.href, { headers: { accept: 'text/html' } })
    if (!answer.ok) return
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
    const fresh = page.querySelector('[data-live]')
    const atEnd = window.innerHeight + window.scrollY >= document.body.offsetHeight - 40
    for (const part of document.querySelectorAll('[data-part]')) {
      const next = page.querySelector(`[data-part="${part.dataset.part}"]`)
      if (next && next.innerHTML !== part.innerHTML) part.replaceWith(next)
    }
    if (atEnd) window.scrollTo({ top: document.body.scrollHeight })
    if (fresh && fresh.dataset.live === 'yes') setTimeout(() => void again(), 2000)
  }
  if (log.dataset.live === 'yes') setTimeout(() => void again(), 2000)
}
for (const log of document.querySelectorAll('[data-live]')) followLog(log)

// A menu closes when something else is pressed.
document.addEventListener('click', (event) => {
  for (const menu of document.querySelectorAll('details.menu[open]'))
    if (!menu.contains(event.target)) menu.open = false
})
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return
  for (const menu of document.querySelectorAll('details.menu[open]')) {
    menu.open = false
    menu.querySelector('summary').focus()
  }
})

// Text is sent by the keyboard as people know it.
document.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && event.target.matches?.('textarea'))
    event.target.form?.requestSubmit()
})
