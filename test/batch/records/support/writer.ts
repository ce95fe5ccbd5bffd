/** Writes rows to a database and says which are acknowledged; for tests that end it at some system call, or let one fail. */
import { writeSync } from 'node:fs';
import { openRecords } from '../../../../src/batch/records/database.ts';
import { LINES } from './lines.ts';

const [path = '', count = ''] = process.argv.slice(2);
const STDOUT = 1;
const tell = (text: string) => writeSync(STDOUT, `${text}\n`);

const attempt = async (work: () => Promise<void>) => {
  try {
    await work();
  } catch (error) {
    tell(`failed ${error instanceof Error ? error.message : error}`);
  }
};

await attempt(async () => {
  const { database } = await openRecords(path, LINES);
  const text = 'x'.repeat(200);
  for (let number = database.find('lines').length; number < Number(count); number += 1) {
    await attempt(async () => {
      await database.write(() => database.change('lines', { number }, { text }));
      tell(`acknowledged ${number}`);
    });
  }
  await database.close();
});
