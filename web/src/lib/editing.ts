// What the editor's own script (`src/editor`) provides, and how the page loads it.

/** A mistake in a script, with its place. Lines and columns count from 1. */
export interface Mistake {
  line: number
  column: number
  why: string
}

export interface EditorOptions {
  text: string
  label: string
  dark: boolean
  changed(): void
  save(): void
}

export interface Editor {
  text(): string
  set(text: string): void
  dark(dark: boolean): void
  /** Marks mistakes at their lines. */
  wrong(mistakes: Mistake[]): void
  /** Marks where the text is not valid JavaScript; returns the first such line. */
  broken(): number | undefined
  close(): void
}

export interface EditorKit {
  open(parent: HTMLElement, options: EditorOptions): Editor
  /** What a script's worker runs: the code that starts it, and the environment it builds for the script. */
  world: { host: string; world: string }
  /** A bot to start from. */
  starter: string
}

declare global {
  interface Window {
    agonEditor?: EditorKit
  }
}

let loading: Promise<EditorKit> | undefined

/** The editor, loaded when first needed. */
export function editorKit(): Promise<EditorKit> {
  return (loading ??= new Promise<EditorKit>((done, failed) => {
    const script = document.createElement('script')
    script.src = '/editor.js'
    script.onload = () => (window.agonEditor ? done(window.agonEditor) : failed(new Error('The editor is not in this program.')))
    script.onerror = () => failed(new Error('The editor cannot be loaded: start `agon watch` again and open the link it prints.'))
    document.head.append(script)
  }).catch((error: unknown) => {
    loading = undefined
    throw error
  }))
}
