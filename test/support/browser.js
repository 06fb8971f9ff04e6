// Plain JavaScript: the types of these packages would bring those of browsers into every file of the server.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import chromium from '@sparticuz/chromium'
import puppeteer from 'puppeteer-core'

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

export async function openBrowser() {
  const browser = await puppeteer.launch({
    executablePath: await chromium.executablePath(),
    // Several contexts at once need processes of their own.
    args: [...chromium.args.filter((arg) => !/single-process|no-zygote/.test(arg)), '--no-sandbox'],
    headless: 'shell',
  })
  return {
    open: async (origin, { width = 1280, dark = false } = {}) => {
      const context = await browser.createBrowserContext()
      const page = await context.newPage()
      await page.setViewport({ width, height: 900, isMobile: width < 500, hasTouch: width < 500 })
      await page.emulateMediaFeatures([
        { name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' },
        { name: 'prefers-reduced-motion', value: 'reduce' },
      ])
      const complaints = []
      page.on('console', (message) => {
        // Chromium says this of each answer that is no success, as pages of refusals are.
        if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
          complaints.push(message.text())
      })
      page.on('pageerror', (error) => complaints.push(String(error)))
      page.on('dialog', (dialog) => {
        complaints.push(`dialog: ${dialog.message()}`)
        void dialog.dismiss()
      })
      page.on('request', (request) => {
        const url = request.url()
        if (!url.startsWith(origin) && !url.startsWith('data:')) complaints.push(`request: ${url}`)
      })
      return {
        complaints,
        goto: async (path) => (await page.goto(new URL(path, origin).href, { waitUntil: 'load' })).status(),
        path: () => new URL(page.url()).pathname,
        fill: (selector, text) => page.locator(selector).fill(text),
        press: async (selector) => {
          await Promise.all([page.waitForNavigation({ waitUntil: 'load' }), page.click(selector)])
        },
        text: () => page.evaluate('document.body.innerText'),
        evaluate: (expression) => page.evaluate(expression),
        faults: async () => {
          // A script of the page itself would be held to its policy; this one comes by the debugger.
          await page.evaluate(await readFile(axe, 'utf8'))
          const { violations } = await page.evaluate('axe.run(document)')
          return violations
            .filter(({ impact }) => impact === 'serious' || impact === 'critical')
            .map(
              ({ id, nodes }) =>
                `${id}: ${nodes
                  .slice(0, 3)
                  .map(({ html }) => html.slice(0, 160))
                  .join(' | ')}`,
            )
        },
        screenshot: (path) => page.screenshot({ path, fullPage: true, captureBeyondViewport: true }),
        close: () => context.close(),
      }
    },
    close: () => browser.close(),
  }
}
