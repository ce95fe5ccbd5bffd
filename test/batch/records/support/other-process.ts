/** Takes locks and records uploads as its standard input says: one line a command, one line an answer. */
import { createInterface } from 'node:readline';
import { type Lock, tryLock } from '../../../../src/batch/records/lock.ts';
import { openUploadRecord } from '../../../../src/batch/records/upload-record.ts';

const LATER = '2026-11-01T00:00:00.000Z';

let held: Lock | null = null;

const COMMANDS: Record<string, (...values: string[]) => Promise<string>> = {
  async take(path = '') {
    const attempt = await tryLock(path);
    held = attempt.taken ? attempt.lock : null;
    return attempt.taken ? 'taken' : 'refused';
  },
  async leave() {
    await held?.release();
    return 'left';
  },
  async append(folder = '', name = '', count = '') {
    const record = openUploadRecord(folder, name, () => 0);
    const upload = {
      sha256: 'a',
      size: 1,
      purpose: 'source_video',
      ready_at: LATER,
      expires_at: LATER,
    } as const;
    for (let number = 0; number < Number(count); number += 1)
      await record.add({ ...upload, upload_id: `upl_${number}` });
    return 'appended';
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [name = '', ...values] = line.split(' ');
  process.stdout.write(`${await COMMANDS[name]?.(...values)}\n`);
}
