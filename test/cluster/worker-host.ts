/**
 * A worker in a process of its own, which a test can stop, cut off or give a wrong clock. Its first job waits for a line on stdin and
 * then ends, whatever became of its lease; others take no time. Arguments: database, state folder.
 */
import { createInterface } from 'node:readline';
import { createWorker } from '../../src/service/index.ts';
import { createSmallEngines } from '../service/harness/small-engines.ts';

const [, , database = '', stateDir = ''] = process.argv;
const say = (word: string) => process.stdout.write(`${word}\n`);

const systemNow = Date.now;
const { promise: gate, resolve: open } = Promise.withResolvers<void>();
createInterface({ input: process.stdin }).on('line', (line) => {
  const [word, value] = line.split(' ');
  if (word === 'go') open();
  if (word === 'jump') Date.now = () => systemNow() + Number(value);
});

const engines = createSmallEngines();
const translate = engines.run.subtitle_translation;
Object.assign(engines.run, {
  // Without files, so that its end depends only on the lease: the next owner of a job removes the files of earlier attempts.
  async subtitle_translation(...[task, work]: Parameters<typeof translate>) {
    say('begun');
    await gate;
    const product = await translate(task, work);
    say('made');
    return product;
  },
});
const worker = await createWorker({ database, stateDir, engines, log: ({ message }) => say(message) });
process.on('SIGTERM', () => void worker.close().then(() => say('closed')));
say('ready');
