/** What `npm run mutation` changes, and the tests that have to notice. */

export interface Subject {
  readonly name: string;
  /** Source files, as globs. */
  readonly mutate: readonly string[];
  /** Test files, as globs: the unit tests of these sources, which run in seconds. */
  readonly tests: readonly string[];
}

export const SUBJECTS: readonly Subject[] = [
  {
    name: 'signing',
    mutate: ['src/protocol/canonical.ts', 'src/protocol/signature.ts', 'src/protocol/webhook-signature.ts'],
    tests: [
      'test/protocol/{canonical,signature,webhook-signature}.test.ts',
      'test/client/webhooks/*.test.ts',
      'test/client/transport/canonical*.test.ts',
    ],
  },
  {
    name: 'journal',
    mutate: ['src/batch/records/{batch-records,database,attempts,next-step}.ts'],
    tests: [
      'test/batch/records/{batch-records,database,attempts,next-step}.test.ts',
      'test/batch/records/{command-record,stage-records,record-folder}.test.ts',
      'test/batch/report/batch-facts.test.ts',
      'test/batch/plan/decision.test.ts',
    ],
  },
  {
    name: 'retry',
    mutate: ['src/base/retry.ts', 'src/client/transport/{retry,error-class}.ts'],
    tests: ['test/base/retry*.test.ts', 'test/client/transport/{retry*,error-class}.test.ts'],
  },
  {
    name: 'ledger',
    mutate: ['src/service/credits/{account,billing,read}.ts'],
    tests: ['test/service/credits/*.test.ts'],
  },
  {
    name: 'recipes',
    mutate: ['src/batch/recipes/*.ts', 'src/batch/run/{carry-out,step}.ts'],
    tests: ['test/batch/recipes/*.test.ts', 'test/batch/run/{carry-out,recall}.test.ts'],
  },
  {
    name: 'publish',
    mutate: ['src/batch/deliver/publish.ts'],
    tests: ['test/batch/deliver/{publish,deliver-results}.test.ts'],
  },
  {
    name: 'srt',
    mutate: ['src/protocol/srt.ts'],
    tests: ['test/protocol/srt.test.ts', 'test/protocol/srt.properties.test.ts'],
  },
];
