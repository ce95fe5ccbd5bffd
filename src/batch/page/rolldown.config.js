/** Builds the script and the style sheet of the HTML report, which are inserted into each report. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'rolldown';

const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));

/** Joins the style sheets in the order of their names, without comments. */
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
  // Browsers of the last two years, which also support `light-dark()` for colours.
  transform: { target: 'es2022' },
  output: { format: 'iife', minify: true, entryFileNames: '[name].js', codeSplitting: false },
  plugins: [
    {
      name: 'report-page-style',
      generateBundle() {
        this.emitFile({ type: 'asset', fileName: 'report-page.css', source: joinStyles() });
      },
    },
  ],
});
