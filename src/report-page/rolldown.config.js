/** How the page of a batch is built: one script and one style sheet, which are put into each report as they are. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'rolldown';

const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));

/** The style sheets in the order of their names, without their comments. */
export function joinStyles() {
  const folder = pathOf('./style/');
  const sheets = readdirSync(folder).sort();
  return sheets
    .map((name) => readFileSync(folder + name, 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, ''))
    .join('');
}

export default defineConfig({
  input: { 'report-page': pathOf('./dom/main.ts') },
  platform: 'browser',
  // Browsers of two years ago run it; the colours, by `light-dark()`, need none older either.
  transform: { target: 'es2022' },
  output: { dir: 'dist', format: 'iife', minify: true, entryFileNames: '[name].js', codeSplitting: false },
  plugins: [
    {
      name: 'report-page-style',
      generateBundle() {
        this.emitFile({ type: 'asset', fileName: 'report-page.css', source: joinStyles() });
      },
    },
  ],
});
