// Light or dark: as the system has it, until the user says otherwise.

import { dark, light, type Ink } from './colour'

export type Choice = 'auto' | 'light' | 'dark'

const system = matchMedia('(prefers-color-scheme: dark)')
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

  constructor() {
    system.addEventListener('change', ({ matches }) => (this.system = matches))
  }

  get dark(): boolean {
    return this.choice === 'auto' ? this.system : this.choice === 'dark'
  }
  get ink(): Ink {
    return this.dark ? dark : light
  }
  next(): void {
    this.choice = this.dark ? 'light' : 'dark'
    try {
      localStorage.setItem('agon-theme', this.choice)
    } catch {
      // A page without storage keeps the choice until it is closed.
    }
  }
}

export const theme = new Theme()
