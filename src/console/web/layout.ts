import { asset } from '../assets.ts'
import { avatar } from './parts.ts'
import { html, type Html } from './html.ts'
import { link, type Ask, type Tab, type View } from './page.ts'

/** A whole document around a page. */
export function layout(ask: Ask, view: View): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${view.title} · Guildhall</title>
        <link rel="icon" href="${asset('mark.svg')}" type="image/svg+xml" />
        <link rel="stylesheet" href="${asset('console.css')}" />
        <link rel="stylesheet" href="${asset('code.css')}" />
        <script src="${asset('console.js')}" defer></script>
      </head>
      <body class="${view.wide ? 'wide' : ''}">
        <a class="skip" href="#main">Skip to the content</a>
        <header class="top">
          <div class="bar">
            <a class="brand" href="/"
              ><img src="${asset('mark.svg')}" alt="" width="22" height="22" /><span>Guildhall</span></a
            >
            <nav aria-label="Server"><a href="/dashboard">My work</a><a href="/explore">Explore</a></nav>
            ${account(ask)}
          </div>
        </header>
        ${view.crumbs || view.tabs ? placeHeader(view) : ''}
        <main id="main" class="page">${view.main}</main>
        <footer class="foot">
          <div><a href="/-/docs">Interface</a><span>Guildhall</span></div>
        </footer>
      </body>
    </html> `
}

const account = ({ viewer, csrf, pathname, query }: Ask): Html => {
  if (viewer === null) {
    const here = pathname + (query.size > 0 ? `?${query.toString()}` : '')
    const back = pathname === '/users/sign_in' ? '' : `?return_to=${encodeURIComponent(here)}`
    return html`<a class="button small" href="/users/sign_in${back}">Sign in</a>`
  }
  const { actor } = viewer
  return html`<details class="menu">
    <summary><span class="visually-hidden">Your account</span>${avatar(actor, 26)}</summary>
    <div class="sheet">
      <p><strong>${actor.name}</strong><br /><span class="quiet">@${actor.username}</span></p>
      <a href="${link(actor.username)}">Profile</a>
      <a href="/-/profile">Settings</a>
      ${actor.admin ? html`<a href="/admin">Administration</a>` : ''}
      <form method="post" action="/users/sign_out">
        <input type="hidden" name="csrf" value="${csrf}" /><button class="plain">Sign out</button>
      </form>
    </div>
  </details>`
}

const placeHeader = ({ crumbs = [], tabs = [], tab }: View): Html =>
  html`<div class="place">
    ${
      crumbs.length > 0 &&
      html`<nav class="crumbs" aria-label="Where you are">
        <ol>
          ${crumbs.map(({ text, href }) => html`<li><a href="${href}">${text}</a></li>`)}
        </ol>
      </nav>`
    }
    ${
      tabs.length > 0 &&
      html`<nav class="tabs" aria-label="Sections">
        <ul>
          ${tabs.map((each) => tabLink(each, tab))}
        </ul>
      </nav>`
    }
  </div>`

const tabLink = ({ id, text, href, count }: Tab, shown: string | undefined): Html =>
  html`<li>
    <a href="${href}" ${id === shown ? html` aria-current="page"` : ''}
      >${text}${count !== undefined && html` <span class="count">${count}</span>`}</a
    >
  </li>`
