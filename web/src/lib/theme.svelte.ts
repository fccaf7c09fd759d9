// Light or dark: follows the system until the user decides otherwise.

import { dark, darkContrast, light, lightContrast, type Ink } from './colour'

export type Choice = 'auto' | 'light' | 'dark'

const system = matchMedia('(prefers-color-scheme: dark)')
const more = matchMedia('(prefers-contrast: more)')
const stored = (): Choice => {
  try {
    const value = localStorage.getItem('agon-theme')
    return value === 'light' || value === 'dark' ? value : 'auto'
  } catch {
    return 'auto'
  }
}

class Theme {
  choice = $state<Choice>(stored())
  private system = $state(system.matches)
  /** Whether the system asks for more contrast. */
  contrast = $state(more.matches)

  constructor() {
    system.addEventListener('change', ({ matches }) => (this.system = matches))
    more.addEventListener('change', ({ matches }) => (this.contrast = matches))
  }

  get dark(): boolean {
    return this.choice === 'auto' ? this.system : this.choice === 'dark'
  }
  get ink(): Ink {
    if (this.contrast) return this.dark ? darkContrast : lightContrast
    return this.dark ? dark : light
  }
  next(): void {
    this.choice = this.dark ? 'light' : 'dark'
    try {
      localStorage.setItem('agon-theme', this.choice)
    } catch {
      // Without storage the choice lasts until the page is closed.
    }
  }
}

export const theme = new Theme()
