// The script editor, as a script of its own that the page loads when somebody wants to write one: CodeMirror, and what the
// page needs to run a script.

import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { javascript } from '@codemirror/lang-javascript'
import { bracketMatching, defaultHighlightStyle, ensureSyntaxTree, foldGutter, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language'
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint'
import { Compartment, EditorState } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import host from '../../../crates/agon-bot/src/script/host.js?raw'
import starter from '../../../games/ostibot/bots/javascript/bot.js?raw'
import world from './world.js?raw'
import type { Editor, EditorKit, EditorOptions } from '../lib/editing'

const bright = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: '#d2a8ff' },
  { tag: [tags.string, tags.regexp, tags.special(tags.string)], color: '#a5d6a7' },
  { tag: [tags.number, tags.bool, tags.null], color: '#ffcc80' },
  { tag: tags.comment, color: '#9aa4b2', fontStyle: 'italic' },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.definition(tags.variableName)], color: '#90caf9' },
])

const look = (dark: boolean) => [
  EditorView.theme(
    {
      '&': { height: '100%', fontSize: '0.86rem', backgroundColor: 'var(--raised)', color: 'var(--text)' },
      '.cm-scroller': { fontFamily: 'ui-monospace, monospace' },
      '.cm-gutters': { backgroundColor: 'var(--sunk)', color: 'var(--faint)', border: 'none' },
      '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--accent) 9%, transparent)' },
      '.cm-cursor': { borderLeftColor: 'var(--text)' },
      '.cm-tooltip': { backgroundColor: 'var(--raised)', color: 'var(--text)', borderColor: 'var(--line)' },
    },
    { dark },
  ),
  syntaxHighlighting(dark ? bright : defaultHighlightStyle),
]

/** Syntax errors: only the first places, because one mistake often causes many. */
function broken(state: EditorState): Diagnostic[] {
  const found: Diagnostic[] = []
  // Text that takes longer than this to parse is left to the browser.
  ensureSyntaxTree(state, state.doc.length, 1_000)?.iterate({
    enter: ({ type, from, to }) => {
      if (type.isError && found.length < 3) found.push({ from, to: Math.max(to, Math.min(from + 1, state.doc.length)), severity: 'error', message: 'This is not valid JavaScript.' })
    },
  })
  return found
}

function open(parent: HTMLElement, options: EditorOptions): Editor {
  const colours = new Compartment()
  let errors: Diagnostic[] = []
  const save = () => (options.save(), true)
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        lineNumbers(),
        foldGutter(),
        lintGutter(),
        history(),
        highlightSpecialChars(),
        drawSelection(),
        indentOnInput(),
        indentUnit.of('  '),
        bracketMatching(),
        highlightActiveLine(),
        javascript(),
        colours.of(look(options.dark)),
        EditorView.lineWrapping,
        // Editable is focusable, but what looks for keyboard access to a scrolled text wants to read so.
        EditorView.contentAttributes.of({ 'aria-label': options.label, spellcheck: 'false', tabindex: '0' }),
        // Tab indents; Escape and then Tab leaves the editor.
        keymap.of([{ key: 'Mod-s', run: save, preventDefault: true }, { key: 'Mod-Enter', run: save }, ...defaultKeymap, ...historyKeymap, ...lintKeymap, indentWithTab]),
        EditorView.updateListener.of((update) => update.docChanged && options.changed()),
      ],
    }),
  })
  const show = () => view.dispatch(setDiagnostics(view.state, errors))
  return {
    text: () => view.state.doc.toString(),
    set: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    dark: (dark) => view.dispatch({ effects: colours.reconfigure(look(dark)) }),
    wrong: (mistakes) => {
      const { doc } = view.state
      errors = mistakes.map(({ line, column, why }) => {
        const at = doc.line(Math.max(1, Math.min(line, doc.lines)))
        const from = Math.min(at.from + Math.max(0, column - 1), at.to)
        return { from, to: at.to, severity: 'error', message: why }
      })
      show()
    },
    broken: () => {
      errors = broken(view.state)
      show()
      const [first] = errors
      return first && view.state.doc.lineAt(first.from).number
    },
    close: () => view.destroy(),
  }
}

const kit: EditorKit = { open, world: { host, world }, starter }
Object.assign(window, { agonEditor: kit })
