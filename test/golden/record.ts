/**
 * Records what vloc prints: `node test/golden/record.ts` everything, with texts as arguments only the cases whose names
 * contain one of them. For a new case, or for behaviour that was changed on purpose; changes of wording belong in wording.json.
 */
import { startVitest } from 'vitest/node';

const vitest = await startVitest('test', ['test/golden/golden.test.ts'], {
  watch: false,
  maxWorkers: 1,
  provide: { record: process.argv.slice(2) },
});
await vitest.close();
