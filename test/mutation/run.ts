/**
 * `npm run mutation [SUBJECT...]`: breaks the source in every small way, one at a time, and counts how often a test notices.
 * Ends with 1 when fewer than the required share are noticed. The source is changed in place and put back.
 */

import { execFileSync } from 'node:child_process';
import { relative } from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import { SUBJECTS, type Subject } from './subjects.ts';

/** Of all mutants that a test could notice. Source: the quality bar for code that handles money and signatures. */
const REQUIRED_PERCENT = 85;

type MutantResult = Awaited<ReturnType<Stryker['runMutationTest']>>[number];

interface Score {
  readonly noticed: number;
  readonly survived: readonly MutantResult[];
}

async function measure(subject: Subject): Promise<Score> {
  process.env.VLOC_MUTATION_SUBJECT = subject.name;
  const stryker = new Stryker({
    mutate: [...subject.mutate],
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
    // The suite finds its sources by their place in the checkout.
    inPlace: true,
    // Node and vitest strip types without checking them; turning checks off would change every file of the checkout.
    disableTypeChecks: false,
    tempDirName: 'coverage/stryker',
    coverageAnalysis: 'perTest',
    // A mutant of a constant that is evaluated once, as the module loads, needs a fresh process; few are worth it.
    ignoreStatic: true,
    // Beyond what the tests take: on a busy machine a slow test must not pass for one that noticed.
    timeoutMS: 60_000,
    concurrency: 2,
    reporters: ['progress-append-only'],
    allowConsoleColors: false,
  });
  const results = await stryker.runMutationTest();
  const noticed = results.filter(({ status }) => status === 'Killed' || status === 'Timeout').length;
  const survived = results.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  return { noticed, survived };
}

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !SUBJECTS.some((subject) => subject.name === name));
if (unknown.length > 0) {
  process.stderr.write(
    `unknown subject: ${unknown.join(', ')}. Choose from: ${SUBJECTS.map(({ name }) => name).join(', ')}\n`,
  );
  process.exit(2);
}

// A run that is killed leaves changed files; only committed ones can be restored.
if (execFileSync('git', ['status', '--porcelain', '--', 'src']).length > 0) {
  process.stderr.write(
    'src has uncommitted changes; commit them, or restore them with: git checkout -- src\n',
  );
  process.exit(2);
}

let enough = true;
for (const subject of SUBJECTS) {
  if (chosen.length > 0 && !chosen.includes(subject.name)) continue;
  const { noticed, survived } = await measure(subject);
  for (const { fileName, location, mutatorName, replacement = '' } of survived) {
    const place = `${relative('.', fileName)}:${location.start.line}`;
    process.stdout.write(`${place} ${mutatorName}: ${replacement.replace(/\s+/g, ' ').slice(0, 80)}\n`);
  }
  const all = noticed + survived.length;
  const percent = all === 0 ? 0 : (100 * noticed) / all;
  if (percent < REQUIRED_PERCENT) enough = false;
  process.stdout.write(`${subject.name}: ${percent.toFixed(1)} % (${noticed} of ${all} mutants noticed)\n`);
}
process.exitCode = enough ? 0 : 1;
