// The language of a file, by its name, and how it is highlighted: each loaded when a file of it is opened.

import type { StreamParser } from '@codemirror/language'

type Mode = StreamParser<unknown>

/** What is loaded for a language; languages of one family share it. */
const FAMILIES = {
  python: () => import('@codemirror/legacy-modes/mode/python').then((it) => ({ python: it.python })),
  javascript: () => import('@codemirror/legacy-modes/mode/javascript').then((it) => ({ javascript: it.javascript, typescript: it.typescript, json: it.json })),
  clike: () => import('@codemirror/legacy-modes/mode/clike').then((it) => ({ c: it.c, cpp: it.cpp, java: it.java, csharp: it.csharp, kotlin: it.kotlin, php: it.clike(PHP) })),
  rust: () => import('@codemirror/legacy-modes/mode/rust').then((it) => ({ rust: it.rust })),
  go: () => import('@codemirror/legacy-modes/mode/go').then((it) => ({ go: it.go })),
  ruby: () => import('@codemirror/legacy-modes/mode/ruby').then((it) => ({ ruby: it.ruby })),
  perl: () => import('@codemirror/legacy-modes/mode/perl').then((it) => ({ perl: it.perl })),
  lua: () => import('@codemirror/legacy-modes/mode/lua').then((it) => ({ lua: it.lua })),
  shell: () => import('@codemirror/legacy-modes/mode/shell').then((it) => ({ shell: it.shell })),
  toml: () => import('@codemirror/legacy-modes/mode/toml').then((it) => ({ toml: it.toml })),
} as const

const words = (text: string) => Object.fromEntries(text.split(' ').map((word) => [word, true]))
/** There is none for PHP by itself; it looks like its relatives. */
const PHP = {
  name: 'php',
  keywords: words('abstract as break case catch class clone const continue declare default do echo else elseif extends final finally fn for foreach function global if implements include interface match namespace new private protected public readonly require require_once return static switch throw trait try use var while yield'),
  atoms: words('true false null'),
  multiLineStrings: true,
}

/** A language: what it is called, and where its highlighting is found. */
export interface Language {
  name: string
  family: keyof typeof FAMILIES
  mode: string
}

const ENDINGS: Record<string, [string, keyof typeof FAMILIES, string]> = {
  py: ['Python', 'python', 'python'],
  js: ['JavaScript', 'javascript', 'javascript'],
  mjs: ['JavaScript', 'javascript', 'javascript'],
  cjs: ['JavaScript', 'javascript', 'javascript'],
  ts: ['TypeScript', 'javascript', 'typescript'],
  json: ['JSON', 'javascript', 'json'],
  c: ['C', 'clike', 'c'],
  h: ['C++', 'clike', 'cpp'],
  cpp: ['C++', 'clike', 'cpp'],
  cc: ['C++', 'clike', 'cpp'],
  hpp: ['C++', 'clike', 'cpp'],
  java: ['Java', 'clike', 'java'],
  cs: ['C#', 'clike', 'csharp'],
  kt: ['Kotlin', 'clike', 'kotlin'],
  php: ['PHP', 'clike', 'php'],
  rs: ['Rust', 'rust', 'rust'],
  go: ['Go', 'go', 'go'],
  rb: ['Ruby', 'ruby', 'ruby'],
  pl: ['Perl', 'perl', 'perl'],
  lua: ['Lua', 'lua', 'lua'],
  sh: ['Shell', 'shell', 'shell'],
  toml: ['TOML', 'toml', 'toml'],
}

/** The language of a file; none if its name says nothing. */
export function languageOf(path: string): Language | undefined {
  const [, ending = ''] = /\.(\w+)$/.exec(path) ?? []
  const found = Object.hasOwn(ENDINGS, ending.toLowerCase()) ? ENDINGS[ending.toLowerCase()] : undefined
  return found && { name: found[0], family: found[1], mode: found[2] }
}

/** How it is highlighted. */
export async function modeOf({ family, mode }: Language): Promise<Mode> {
  return ((await FAMILIES[family]()) as unknown as Record<string, Mode>)[mode]!
}
