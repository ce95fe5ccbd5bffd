/**
 * Writes docs/conformance.md: which rules cover which sentence. `node test/conformance/coverage.ts` writes it; with
 * `--check` it only compares and fails if the file differs.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { formatCoverage } from './coverage-table.ts';
import { RULES } from './rules.ts';
import { SENTENCES } from './sentences.ts';

const page = new URL('../../docs/conformance.md', import.meta.url);
const text = formatCoverage(SENTENCES, RULES);

if (process.argv.includes('--check')) {
  if (readFileSync(page, 'utf8') !== text) {
    process.stderr.write('docs/conformance.md is not current. Run `node test/conformance/coverage.ts`.\n');
    process.exitCode = 1;
  }
} else {
  writeFileSync(page, text);
}
