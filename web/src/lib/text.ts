// The editor of a bot's text: CodeMirror with its smallest set, one state for each file. Highlighting is by weight, slope and
// ground: colour belongs to seats and states.

import { defaultKeymap, history, historyKeymap, indentWithTab, undo } from '@codemirror/commands'
import { HighlightStyle, StreamLanguage, bracketMatching, getIndentUnit, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language'
import { Compartment, EditorState, RangeSet, RangeSetBuilder, StateEffect, StateField, type Extension } from '@codemirror/state'
import { Decoration, EditorView, GutterMarker, ViewPlugin, drawSelection, gutter, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers, type DecorationSet, type ViewUpdate } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { languageOf, modeOf } from './language'

const style = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.controlKeyword, tags.operatorKeyword, tags.definitionKeyword], fontWeight: '700' },
  { tag: tags.comment, fontStyle: 'italic', color: 'var(--faint)' },
  { tag: [tags.string, tags.regexp, tags.special(tags.string)], backgroundColor: 'var(--sunk)', borderRadius: '2px' },
])

const look = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--raised)', color: 'var(--text)', fontSize: '13px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px' },
  '.cm-gutters': { backgroundColor: 'var(--raised)', color: 'var(--faint)', border: 'none' },
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 8px 0 14px', minWidth: '32px' },
  '.cm-bars': { width: '4px' },
  '.cm-bars .cm-gutterElement.bar': { backgroundColor: 'var(--edge)' },
  '.cm-line': { padding: '0 8px' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--sunk)' },
  '.cm-activeLine span[class]': { backgroundColor: 'transparent' },
  '.cm-wrong': { backgroundColor: 'var(--on-bad) !important', boxShadow: 'inset 3px 0 var(--bad)' },
  '.cm-cursor': { borderLeft: '2px solid var(--link)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { background: 'var(--tint)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'transparent', outline: '1px solid var(--edge)' },
})

class Bar extends GutterMarker {
  override elementClass = 'bar'
}
const bar = new Bar()
const wrong = Decoration.line({ class: 'cm-wrong' })

/** Line numbers, as marks. */
const setBars = StateEffect.define<RangeSet<GutterMarker>>()
const bars = StateField.define<RangeSet<GutterMarker>>({
  create: () => RangeSet.empty,
  update: (value, { effects, changes }) => effects.reduce((now, effect) => (effect.is(setBars) ? effect.value : now), value.map(changes)),
})
const setWrong = StateEffect.define<DecorationSet>()
const wrongs = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (value, { effects, changes }) => effects.reduce((now, effect) => (effect.is(setWrong) ? effect.value : now), value.map(changes)),
  provide: (field) => EditorView.decorations.from(field),
})

/** On a narrow screen lines wrap, and what wraps stands two deeper than its line. */
const hanging = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet
    constructor(view: EditorView) {
      this.decorations = this.build(view)
    }
    update({ docChanged, viewportChanged, view }: ViewUpdate) {
      if (docChanged || viewportChanged) this.decorations = this.build(view)
    }
    build(view: EditorView): DecorationSet {
      const made = new RangeSetBuilder<Decoration>()
      for (const { from, to } of view.visibleRanges) {
        for (let at = from; at <= to; ) {
          const line = view.state.doc.lineAt(at)
          const deep = (/^\s*/.exec(line.text)![0].replaceAll('\t', '    ').length || 0) + 2
          made.add(line.from, line.from, Decoration.line({ attributes: { style: `padding-left:calc(8px + ${deep}ch);text-indent:-${deep}ch` } }))
          at = line.to + 1
        }
      }
      return made.finish()
    }
  },
  { decorations: (plugin) => plugin.decorations },
)

export class TextEditor {
  private readonly view: EditorView
  private readonly states = new Map<string, EditorState>()
  private readonly marks = new Map<string, { bars: number[]; wrong: number[] }>()
  private readonly wrapping = new Compartment()
  private path = ''
  private wraps = false

  constructor(
    parent: HTMLElement,
    private readonly typed: (path: string) => void,
  ) {
    this.view = new EditorView({ parent, state: EditorState.create() })
  }

  /** The files that are open. */
  get paths(): string[] {
    return [...this.states.keys()]
  }

  /** Takes a file: its text replaces what was there, which can be undone. */
  set(path: string, text: string): void {
    const state = this.state(path)
    if (!state) {
      this.states.set(path, this.fresh(path, text))
      void this.highlight(path)
    } else if (state.doc.toString() !== text) {
      this.change(path, state.update({ changes: { from: 0, to: state.doc.length, insert: text } }))
    }
  }

  drop(path: string): void {
    this.states.delete(path)
    this.marks.delete(path)
  }

  /** Shows a file. */
  show(path: string): void {
    const next = this.states.get(path)
    if (!next || path === this.path) return
    if (this.path && this.states.has(this.path)) this.states.set(this.path, this.view.state)
    this.path = path
    this.view.setState(next)
    this.wrap(this.wraps)
    this.paint(path)
  }

  text(path: string): string {
    return this.state(path)?.doc.toString() ?? ''
  }

  /** Marks the lines that differ from what was handed in, and those that something is wrong with. */
  mark(path: string, what: { bars?: number[]; wrong?: number[] }): void {
    this.marks.set(path, { ...(this.marks.get(path) ?? { bars: [], wrong: [] }), ...what })
    if (path === this.path) this.paint(path)
  }

  /** Goes to a line, from 1. */
  go(line: number): void {
    const { doc } = this.view.state
    const at = doc.line(Math.max(1, Math.min(line, doc.lines))).from
    this.view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) })
    this.view.focus()
  }

  /** Writes a sign where the cursor is, as its key would; a tab indents. */
  sign(sign: string): void {
    const { view } = this
    if (sign === '\t') view.dispatch(view.state.replaceSelection(' '.repeat(getIndentUnit(view.state))))
    else view.dispatch(view.state.replaceSelection(sign))
    view.focus()
  }

  undo(): void {
    undo(this.view)
  }

  focus(): void {
    this.view.focus()
  }

  wrap(wraps: boolean): void {
    this.wraps = wraps
    if (this.path) this.view.dispatch({ effects: this.wrapping.reconfigure(wraps ? [EditorView.lineWrapping, hanging] : []) })
  }

  close(): void {
    this.view.destroy()
  }

  private state(path: string): EditorState | undefined {
    return path === this.path && this.states.has(path) ? this.view.state : this.states.get(path)
  }

  private change(path: string, transaction: ReturnType<EditorState['update']>): void {
    if (path === this.path) this.view.dispatch(transaction)
    else this.states.set(path, transaction.state)
  }

  private paint(path: string): void {
    const { bars: lines, wrong: bad } = this.marks.get(path) ?? { bars: [], wrong: [] }
    const { doc } = this.view.state
    const at = (numbers: number[]) => [...new Set(numbers)].filter((line) => line >= 1 && line <= doc.lines).map((line) => doc.line(line).from)
    this.view.dispatch({
      effects: [setBars.of(RangeSet.of(at(lines).map((from) => bar.range(from)), true)), setWrong.of(Decoration.set(at(bad).map((from) => wrong.range(from)), true))],
    })
  }

  private async highlight(path: string): Promise<void> {
    const language = languageOf(path)
    if (!language) return
    const mode = await modeOf(language).catch(() => undefined)
    const state = this.state(path)
    if (mode && state) this.change(path, state.update({ effects: StateEffect.appendConfig.of(StreamLanguage.define(mode)) }))
  }

  private fresh(path: string, text: string): EditorState {
    const tabs = /^\t/m.test(text)
    const two = !tabs && /^ {2}\S/m.test(text)
    const extensions: Extension[] = [
      lineNumbers(),
      gutter({ class: 'cm-bars', markers: (view) => view.state.field(bars) }),
      history(),
      highlightSpecialChars(),
      drawSelection(),
      indentOnInput(),
      indentUnit.of(tabs ? '\t' : two ? '  ' : '    '),
      bracketMatching(),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      syntaxHighlighting(style),
      look,
      bars,
      wrongs,
      this.wrapping.of([]),
      // Editable is focusable, but what looks for keyboard access to a scrolled text wants to read so.
      EditorView.contentAttributes.of({ 'aria-label': path, spellcheck: 'false', autocapitalize: 'off', tabindex: '0' }),
      // Tab indents; Escape leaves the text.
      keymap.of([{ key: 'Escape', run: (view) => (view.contentDOM.blur(), true) }, ...defaultKeymap, ...historyKeymap, indentWithTab]),
      EditorView.updateListener.of((update) => update.docChanged && this.typed(path)),
    ]
    return EditorState.create({ doc: text, extensions })
  }
}
