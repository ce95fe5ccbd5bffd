/** The unit tests of one subject, named by VLOC_MUTATION_SUBJECT, in one process that stays. */

import { defineConfig } from 'vitest/config';
import { SUBJECTS } from './subjects.ts';

const subject = SUBJECTS.find(({ name }) => name === process.env.VLOC_MUTATION_SUBJECT);
if (subject === undefined) throw new Error('VLOC_MUTATION_SUBJECT names no subject');

export default defineConfig({
  test: {
    include: [...subject.tests],
    // Unit tests share nothing but their sources; a process for each file would be most of the time that a mutant takes.
    isolate: false,
    // A mutant that makes a property run for long is noticed by Stryker's own time limit.
    testTimeout: 60_000,
    globalSetup: 'test/structure/run-folder.ts',
    setupFiles: ['test/structure/isolation.ts', 'test/structure/loopback-only.ts'],
  },
});
