import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

// The editor: a plain script of its own, which the page loads when somebody wants to write a script. It is built into
// the folder of the app, beside it.
export default defineConfig({
  publicDir: false,
  build: {
    target: 'es2022',
    emptyOutDir: false,
    modulePreload: false,
    reportCompressedSize: false,
    rollupOptions: {
      input: here('./src/editor/main.ts'),
      output: { format: 'iife', entryFileNames: 'editor.js', codeSplitting: false },
    },
  },
})
