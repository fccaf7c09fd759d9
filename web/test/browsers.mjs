// The browsers that the tests drive: this machine's own Chromium and Firefox.

import { existsSync } from 'node:fs'
import { chromium, firefox } from 'playwright-core'

/** Where each is looked for; the first is named by whoever runs the tests. */
const PLACES = {
  chromium: [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'],
  firefox: [process.env.FIREFOX, '/usr/bin/firefox-esr', '/usr/bin/firefox'],
}

/** Those that the tests run in: each, or the one that AGON_BROWSER names. A test that does not say which runs in the first. */
export const BROWSERS = process.env.AGON_BROWSER ? [process.env.AGON_BROWSER] : Object.keys(PLACES)

const found = (name) => PLACES[name].find((path) => path && existsSync(path))

/** What this machine lacks to run a browser; null if it has it. */
export function lacks(name) {
  return found(name) ? null : `no ${name === 'firefox' ? 'Firefox: apt-get install firefox-esr, or set FIREFOX' : 'Chromium: apt-get install chromium, or set CHROMIUM'} to one`
}

/** Starts a browser. */
export function launch(name) {
  if (name === 'chromium') return chromium.launch({ executablePath: found(name), args: ['--no-sandbox'] })
  return launchFirefox()
}

/**
 * Starts Firefox as its makers and Debian ship it, which the library drives by WebDriver BiDi (the channel says so; its usual way
 * needs a Firefox of its own). This Firefox does not know the protocol's command for media features yet, nor one that turns scripts
 * off. Both are properties of a tab inside the browser, which the protocol reaches, so they are set there.
 */
async function launchFirefox() {
  const browser = await firefox.launch({ executablePath: found('firefox'), channel: 'moz-firefox', args: ['--remote-allow-system-access'] })
  const library = browser._connection.toImpl(browser)
  const session = library._browserSession
  const { contexts } = await session.send('browsingContext.getTree', { 'moz:scope': 'chrome', maxDepth: 0 })
  const inside = async (run, ...words) => {
    const done = await session.send('script.callFunction', {
      functionDeclaration: `${run}`,
      arguments: words.map((value) => ({ type: 'string', value })),
      target: { context: contexts[0].context },
      awaitPromise: true,
    })
    if (done.type === 'exception') throw new Error(`Firefox: ${done.exceptionDetails.text}`)
  }
  await inside(keepWanted)
  // Each tab has a session of the same kind; so have those of another Firefox, which have been here before.
  const kind = Object.getPrototypeOf(session)
  const send = kind.send
  kind.send = function (method, parameters) {
    if (method !== 'emulation.setMediaFeaturesOverride' || this.connection !== session.connection) return send.call(this, method, parameters)
    // Frames, which are named as well, look like their page.
    const tabs = (parameters.contexts ?? []).filter((tab) => library._bidiPages.has(tab))
    const wanted = (tab) => {
      const page = library._bidiPages.get(tab)._page
      const { colorScheme, reducedMotion } = page.emulatedMedia()
      return {
        prefersColorSchemeOverride: colorScheme === 'dark' ? 'dark' : 'light',
        prefersReducedMotionOverride: reducedMotion === 'reduce' ? 'reduce' : 'no-preference',
        allowJavascript: page.browserContext._options.javaScriptEnabled !== false,
      }
    }
    return Promise.all(tabs.map((tab) => inside(want, tab, JSON.stringify(wanted(tab)))))
  }
  // Firefox tells of downloads without an id yet, and the library passes over those.
  const emit = kind.emit
  kind.emit = function (name, event) {
    if (/^browsingContext\.download/.test(name)) event.download ??= event.url
    return emit.call(this, name, event)
  }
  return browser
}

// The rest runs inside Firefox.
/* global ChromeUtils, Services */

/** Sets the properties of a tab. */
function want(tab, wanted) {
  const { NavigableManager } = ChromeUtils.importESModule('chrome://remote/content/shared/NavigableManager.sys.mjs')
  const element = NavigableManager.getBrowserById(tab)
  element.wanted = JSON.parse(wanted)
  Object.assign(element.browsingContext, element.wanted)
}

/** Sets them again whenever the tab goes on in another process. */
function keepWanted() {
  const again = (context) => Object.assign(context, context.embedderElement?.wanted)
  Services.obs.addObserver(again, 'browsing-context-did-set-embedder')
}
