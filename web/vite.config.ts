import { fileURLToPath } from 'node:url'
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vitest/config'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

// What pages have no use for that ask no server, and those that have no engines either.
const SERVED = 'Workshop|Journal|Locked|Start'
const APART: Record<string, RegExp> = {
  folder: new RegExp(`^\\./(${SERVED})\\.svelte$`),
  page: new RegExp(`^\\./(${SERVED}|Play|PlayOn|AnalysisPanel|KeepTest)\\.svelte$`),
}

// What the program carries. The app of a server is a module: what the first picture does not need are parts beside it,
// loaded when somebody wants them. A page opened as a file may load plain scripts and no module: `--mode folder` makes one
// of all that pages of a folder share, `--mode page` the one that an exported page holds inline, `--mode puzzle` that of a contest's pages
// of puzzles, which stand in pages of the site.
export default defineConfig(({ mode }) => {
  const apart = APART[mode]
  const whole = apart !== undefined || mode === 'puzzle'
  const name = whole ? mode : 'app'
  return {
    plugins: [svelte({ configFile: false, preprocess: [] })],
    resolve: {
      alias: [
        { find: 'agon-viewer', replacement: here('./src/lib/drawing.ts') },
        ...(apart ? [{ find: apart, replacement: here('./src/ui/Nothing.svelte') }] : []),
      ],
    },
    server: {
      fs: { allow: [here('..')] },
      // `npm run dev` shows what a running `agon watch --token-file FILE --port 4870 ...` serves,
      // where the file holds the token below.
      proxy: {
        '/api': {
          target: 'http://127.0.0.1:4870',
          headers: { 'x-agon-key': 'developersdevelopers', origin: 'http://127.0.0.1:4870' },
          changeOrigin: true,
        },
      },
    },
    build: {
      target: 'es2022',
      // Browsers that know light-dark(): each colour stands once.
      cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
      emptyOutDir: !whole,
      assetsInlineLimit: 0,
      cssCodeSplit: !whole,
      modulePreload: false,
      reportCompressedSize: false,
      rollupOptions: {
        input: { [name]: here(mode === 'puzzle' ? './src/puzzle.ts' : './src/main.ts'), ...(whole ? {} : { early: here('./src/lib/early.ts') }) },
        output: {
          ...(whole
            ? { format: 'iife', entryFileNames: `${name}.js`, assetFileNames: `${name}[extname]`, codeSplitting: false }
            : {
                format: 'es',
                // Their names change with them: a browser keeps them, with what it compiled, and a page that was opened
                // before gets its own parts or none.
                entryFileNames: 'parts/[name]-[hash].js',
                chunkFileNames: 'parts/[name]-[hash].js',
                assetFileNames: 'parts/[name]-[hash][extname]',
              }),
        },
      },
    },
    // Style sheets are read as they are: the colours of the boards stand in one.
    test: { css: true, include: ['src/**/*.test.ts', '../games/*/viewer/**/*.test.ts'] },
  }
})
