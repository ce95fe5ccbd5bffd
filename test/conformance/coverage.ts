/** Prints which rules of the suite test which sentence of the specification. */
import { formatCoverage } from './coverage-table.ts';
import { RULES } from './rules.ts';
import { SENTENCES } from './sentences.ts';

process.stdout.write(formatCoverage(SENTENCES, RULES));
