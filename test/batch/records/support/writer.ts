/** Appends records to a log and says which are acknowledged; for tests that end it at some system call, or let one fail. */
import { writeSync } from 'node:fs';
import { openAppendLog } from '../../../../src/batch/records/append-log.ts';

const [path = '', count = ''] = process.argv.slice(2);
const STDOUT = 1;

const { log, content } = await openAppendLog(path);
const tell = (text: string) => writeSync(STDOUT, `${text}\n`);
const attempt = async (work: () => Promise<unknown>, done: string) => {
  try {
    await work();
    tell(done);
  } catch (error) {
    tell(`failed ${error instanceof Error ? error.message : error}`);
  }
};

for (let number = content.records.length; number < Number(count); number += 1) {
  await attempt(() => log.append({ type: 'line', number }), `acknowledged ${number}`);
}
// Every record but the last is dead, so this rewrites the file.
await attempt(() => log.compact((records) => [...records].slice(-1)), 'compacted');
await log.close();
